import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/event.js';
import { reduce, runOf } from '../../../src/run/run-state.js';
import { anAttempt } from '../../rig/builders.js';
import { aCauseSummary } from '../../rig/shown-run.js';

const started = {
  type: 'agent.started',
  causeId: 'c1',
  attempt: 1,
  agent: 'debugger',
  slashCommand: '/debugger',
  runner: 'claude',
  timeoutMs: 60_000,
  pid: 1,
  logFile: 'attempts/1.log',
} as const;
const ended = {
  type: 'agent.ended',
  causeId: 'c1',
  attempt: 1,
  exit: 'completed',
  durationMs: 4200,
  costUsd: 0.12,
  filesChanged: 1,
  orphans: [],
  agentError: null,
} as const;
const over = {
  type: 'run.ended',
  outcome: 'interrupted',
  exitCode: 130,
  durationMs: 9000,
  agentRuns: 1,
  agentRunsAvoided: 0,
  costUsd: null,
  commit: null,
} as const;
const activity = { type: 'agent.activity', causeId: 'c1', text: 'reads' } as const;

/** The run after one found cause and these events, a second apart. */
function after(...events: readonly Event[]) {
  const found = { type: 'cause.found', cause: aCauseSummary() } as const;
  const run = runOf([found, ...events].map((event, at) => ({ time: at * 1000, ...event })));
  return { run, cause: run.causes[0], attempt: run.causes[0]?.attempts[0] };
}

describe('a run as its events describe it', () => {
  it('CL-13 RP-5 has the activity of an agent while it works, and none once it has ended', () => {
    expect(after(started, activity).cause?.phase).toMatchObject({ since: started, doing: 'reads' });
    const { cause, attempt, run } = after(started, activity, ended);
    expect(cause).toMatchObject({ phase: { since: ended, doing: '' }, costUsd: 0.12 });
    expect(attempt).toMatchObject({ n: 1, started, ended, judged: null });
    expect(run).toMatchObject({ agentRuns: 1, costUsd: 0.12 });
  });

  it('RP-5 has nothing in progress once it was interrupted', () => {
    const { run, cause } = after(started, activity, over);
    expect(run).toMatchObject({ ended: over, phase: null, progress: null });
    expect(cause).toMatchObject({ phase: null, ended: null });
    expect(run.spans).toMatchObject([{ kind: 'agent', to: 3000 }]);
  });

  it('HN-8 is undone only by an undo that left no file alone', () => {
    const undone = (...leftAlone: string[]) => ({ type: 'run.undone' as const, restored: ['a'], leftAlone });
    expect(after(over, undone('b')).run.undone).toBe(false);
    expect(after(over, undone('b'), undone()).run.undone).toBe(true);
  });

  it('RP-5 is not changed by events of a newer self-heal or of unknown causes', () => {
    const { run } = after(started);
    for (const type of ['cause.divined', 'constructor', '__proto__']) {
      expect(reduce(run, { time: 9000, type, causeId: 'c1' } as never)).toBe(run);
    }
    const judged = { type: 'attempt.judged', causeId: 'c9', attempt: anAttempt() } as const;
    expect(reduce(run, { time: 9000, ...judged }).causes).toEqual(run.causes);
  });

  it('CL-13 shows the progress of a suite run at its purpose, and not at a waiting cause', () => {
    const suite = (purpose: 'retest' | 'confirm', causeId: string | null) =>
      ({ type: 'suite.started', purpose, causeId, tests: 2 }) as const;
    const progress = (test: string) =>
      ({ type: 'suite.progress', done: 1, total: 2, failed: 0, test }) as const;
    const { run } = after(
      { type: 'cause.found', cause: aCauseSummary({ id: 'c2' }) },
      suite('retest', 'c1'),
      progress('of c1'),
      { type: 'attempt.held', causeId: 'c1', attempt: 1, agent: null, change: null, error: null },
      suite('confirm', null),
      progress('of all'),
    );
    expect(run.phase?.doing).toBe('1/2 of all');
    expect(run.progress).toEqual({ done: 1, total: 2 });
    expect(run.causes.map(({ phase }) => phase?.doing ?? null)).toEqual(['', null]);
  });

  describe('SC-3 CL-13 with two agents at work at the same time', () => {
    const suite = {
      type: 'suite.started',
      purpose: 'retest',
      causeId: 'c1',
      tests: 2,
      n: 3,
      of: 9,
      likelyMs: null,
    } as const;
    const found = ['c1', 'c2'].map((id) => ({ type: 'cause.found', cause: aCauseSummary({ id }) }) as const);
    const other = { ...started, causeId: 'c2' };
    const both = (...events: readonly Event[]) =>
      runOf([...found, started, other, ...events].map((event, at) => ({ time: at * 1000, ...event })));
    const openSpans = (run: ReturnType<typeof both>) =>
      run.spans.flatMap(({ kind, since, to }) => (to === null ? [`${kind} ${since.causeId}`] : []));

    it('SC-3 leaves the span of one agent open when the other starts or ends', () => {
      expect(openSpans(both())).toEqual(['agent c1', 'agent c2']);
      expect(openSpans(both(ended))).toEqual(['agent c2']);
      expect(openSpans(both(ended, suite))).toEqual(['agent c2', 'suite c1']);
      expect(openSpans(both(over))).toEqual([]);
    });

    it('SC-3 shows a suite run at the cause that it is for', () => {
      const ran = { type: 'suite.progress', done: 1, total: 2, failed: 0, test: 'buys' } as const;
      const run = both(ended, suite, { ...activity, causeId: 'c2' }, ran, { ...ended, causeId: 'c2' });
      expect(run.causes.map(({ phase }) => phase?.doing)).toEqual(['1/2 buys', '']);
      const shared = both(ended, { ...suite, causeId: null }, { ...ended, causeId: 'c2' }, ran);
      expect(shared.phase).toMatchObject({ doing: '1/2 buys' });
    });
  });
});
