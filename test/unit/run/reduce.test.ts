import { describe, expect, it } from 'vitest';
import type { Event, StampedEvent } from '../../../src/event.js';
import { reduce, runOf } from '../../../src/run/reduce.js';
import { emptyRun } from '../../../src/run/run-state.js';
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
  outcome: 'completed',
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

/** The run of a cause that was found, and of these events, a second apart. */
function after(...events: readonly Event[]) {
  const found = { type: 'cause.found', cause: aCauseSummary() } as const;
  const run = runOf([found, ...events].map((event, at) => ({ time: at * 1000, ...event })));
  return { run, cause: run.causes[0], attempt: run.causes[0]?.attempts[0] };
}

describe('a run as its events tell of it', () => {
  it('CL-13 RP-5 an agent at work has said something, and nothing once it ended', () => {
    expect(after(started, activity).cause?.phase).toMatchObject({ since: started, doing: 'reads' });
    const { cause, attempt, run } = after(started, activity, ended);
    expect(cause).toMatchObject({ phase: { since: ended, doing: '' }, costUsd: 0.12 });
    expect(attempt).toMatchObject({ n: 1, started, ended, judged: null });
    expect(run).toMatchObject({ agentRuns: 1, costUsd: 0.12 });
  });

  it('RP-5 a re-run without an agent is an attempt from when it is judged', () => {
    const judged = { type: 'attempt.judged', causeId: 'c1', attempt: anAttempt({ agent: null }) } as const;
    expect(after(judged).attempt).toMatchObject({ n: 1, started: null, judged: { agent: null } });
  });

  it('HN-6 HN-8 an attempt that is judged once more stands as it was judged last', () => {
    const judged = (reverted: boolean) => ({
      type: 'attempt.judged' as const,
      causeId: 'c1',
      attempt: anAttempt({ judged: 'green', reverted }),
    });
    const { cause } = after(started, ended, judged(false), judged(true));
    expect(cause?.attempts.map((one) => one.judged?.reverted)).toEqual([true]);
  });

  it('RP-5 what an interrupted run left in the middle is not at work', () => {
    const { run, cause } = after(started, activity, over);
    expect(run).toMatchObject({ ended: over, phase: null, progress: null });
    expect(cause).toMatchObject({ phase: null, ended: null });
    expect(run.spans).toMatchObject([{ kind: 'agent', to: 3000 }]);
  });

  it('HN-8 an undoing that left nothing alone has undone the run, one that did has not', () => {
    const undone = (...leftAlone: string[]) => ({ type: 'run.undone' as const, restored: ['a'], leftAlone });
    expect(after(over, undone('b')).run.undone).toBe(false);
    expect(after(over, undone('b'), undone()).run.undone).toBe(true);
  });

  it('HN-8 BL-4 a change to blame that was reverted is there to be undone, until it is', () => {
    const reverted = { type: 'change.reverted' as const, causeId: 'c1', change: '900000002' };
    const undone = (...leftAlone: string[]) => ({ type: 'run.undone' as const, restored: ['a'], leftAlone });
    const all = (...events: readonly Event[]) => after(over, ...events).run.reverted;
    expect(all(reverted)).toEqual(['900000002']);
    expect(all(reverted, undone('b'))).toEqual(['900000002']);
    expect(all(reverted, undone())).toEqual([]);
    expect(all(reverted, undone(), reverted)).toEqual(['900000002']);
  });

  it('RP-5 events of a newer self-heal, and of causes that nobody told of, change nothing', () => {
    const { run } = after(started);
    for (const type of ['cause.divined', 'constructor', '__proto__']) {
      expect(reduce(run, { time: 9000, type, causeId: 'c1' } as unknown as StampedEvent)).toBe(run);
    }
    const judged = { type: 'attempt.judged', causeId: 'c9', attempt: anAttempt() } as const;
    expect(reduce(run, { time: 9000, ...judged }).causes).toEqual(run.causes);
  });

  it('CL-13 how far a Playwright run is stands at what it is for, and at no cause that waits', () => {
    const suite = (purpose: 'retest' | 'confirm', causeId: string | null) =>
      ({ type: 'suite.started', purpose, causeId, tests: 2 }) as const;
    const progress = (test: string) =>
      ({ type: 'suite.progress', done: 1, total: 2, failed: 0, test }) as const;
    const { run } = after(
      { type: 'cause.found', cause: aCauseSummary({ id: 'c2' }) },
      suite('retest', 'c1'),
      progress('of c1'),
      { type: 'attempt.green', causeId: 'c1', attempt: 1, agent: null, change: null },
      suite('confirm', null),
      progress('of all'),
    );
    expect(run.phase?.doing).toBe('1/2 of all');
    expect(run.progress).toEqual({ done: 1, total: 2 });
    expect(run.causes.map(({ phase }) => phase?.doing ?? null)).toEqual(['', null]);
  });

  it('ME-11 a state is never changed, only followed by another', () => {
    const before = Object.freeze(emptyRun('r1'));
    const run = reduce(before, { type: 'run.warning', message: 'look', time: 1 });
    expect([before.warnings, run.warnings]).toEqual([[], ['look']]);
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

    it('SC-3 one that begins or ends leaves the stretch of the other open', () => {
      expect(openSpans(both())).toEqual(['agent c1', 'agent c2']);
      expect(openSpans(both(ended))).toEqual(['agent c2']);
      expect(openSpans(both(ended, suite))).toEqual(['agent c2', 'suite c1']);
      expect(openSpans(both(over))).toEqual([]);
    });

    it('SC-3 a wait ends with what comes next for its own cause', () => {
      const wait = { type: 'agent.retrying', causeId: 'c1', attempt: 1, delayMs: 10, reason: 'no' } as const;
      expect(openSpans(both(ended, wait, { ...activity, causeId: 'c2' }))).toEqual(['agent c2', 'wait c1']);
      expect(openSpans(both(ended, wait, { ...started, attempt: 2 }))).toEqual(['agent c2', 'agent c1']);
    });

    it('SC-3 what Playwright runs is said of the cause that it runs for', () => {
      const ran = { type: 'suite.progress', done: 1, total: 2, failed: 0, test: 'buys' } as const;
      const run = both(ended, suite, { ...activity, causeId: 'c2' }, ran, { ...ended, causeId: 'c2' });
      expect(run.causes.map(({ phase }) => phase?.doing)).toEqual(['1/2 buys', '']);
      const shared = both(ended, { ...suite, causeId: null }, { ...ended, causeId: 'c2' }, ran);
      expect(shared.phase).toMatchObject({ doing: '1/2 buys' });
    });
  });
});
