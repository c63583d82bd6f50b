import { isKept } from '../../../src/model/attempt.js';
import { describe, expect, it } from 'vitest';
import { type Event, type StampedEvent, parseEvent } from '../../../src/event.js';
import { type Reporter, createBus } from '../../../src/run/bus.js';
import { createReport } from '../../../src/run/report.js';
import { reduce, replayRun } from '../../../src/run/run-state.js';
import { combineChanges, readKeptChanges } from '../../../src/run/undo.js';
import type { FileState } from '../../../src/workspace/file-state.js';
import { anAttempt, aTest } from '../../rig/builders.js';
import { aCauseRecord, agentStarted as started } from '../../rig/shown-run.js';
import { type TestSimulation, simulatedRun } from '../../rig/simulated-run.js';
import { tempDir } from '../../rig/temp-dir.js';
import { virtualClock } from '../../rig/virtual-clock.js';

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
  costUsd: null,
  commit: null,
} as const;
const activity = { type: 'agent.activity', causeId: 'c1', text: 'reads' } as const;

/** The run after one found cause and these events, a second apart. */
function after(...events: readonly Event[]) {
  const found = { type: 'cause.found', cause: aCauseRecord() } as const;
  const run = replayRun([found, ...events].map((event, at) => ({ time: at * 1000, ...event })));
  return { run, cause: run.causes[0], attempt: run.causes[0]?.attempts[0] };
}

describe('a run as its events describe it', () => {
  it('CL-13 RP-5 shows an agent’s activity while it works, and none after its end', () => {
    expect(after(started, activity).cause?.phase).toMatchObject({ since: started, doing: 'reads' });
    const { cause, attempt, run } = after(started, activity, ended);
    expect(cause).toMatchObject({ phase: { since: ended, doing: '' }, costUsd: 0.12 });
    expect(attempt).toMatchObject({ n: 1, started, judged: null });
    expect(run).toMatchObject({ agentRuns: 1, costUsd: 0.12 });
  });

  it('RP-5 shows nothing in progress after an interrupt', () => {
    const { run, cause } = after(started, activity, over);
    expect(run).toMatchObject({ ended: over, phase: null, progress: null });
    expect(cause).toMatchObject({ phase: null, ended: null });
  });

  it('SC-1 records each test without copying all of them', () => {
    const { run } = after();
    const seen = { type: 'tests.decided', ids: ['t1'], verdict: 'healed', time: 1 } as const;
    expect(reduce(run, seen).tests).toBe(run.tests);
  });

  it('HN-8 counts as undone only if the undo skipped no file', () => {
    const undone = (...leftAlone: string[]) => ({ type: 'run.undone' as const, restored: ['a'], leftAlone });
    expect(after(over, undone('b')).run.undone).toBe(false);
    expect(after(over, undone('b'), undone()).run.undone).toBe(true);
  });

  describe('SC-3 CL-13 shows two agents that work at the same time', () => {
    const suite = {
      type: 'suite.started',
      purpose: 'retest',
      causeId: 'c1',
      tests: 2,
      n: 3,
      estimateMs: null,
    } as const;
    const found = ['c1', 'c2'].map((id) => ({ type: 'cause.found', cause: aCauseRecord({ id }) }) as const);
    const other = { ...started, causeId: 'c2' };
    const both = (...events: readonly Event[]) =>
      replayRun([...found, started, other, ...events].map((event, at) => ({ time: at * 1000, ...event })));

    it('SC-3 shows a suite run under its cause', () => {
      const ran = { type: 'suite.progress', done: 1, total: 2, failed: 0, test: 'buys' } as const;
      const run = both(ended, suite, { ...activity, causeId: 'c2' }, ran, { ...ended, causeId: 'c2' });
      expect(run.causes.map(({ phase }) => phase?.doing)).toEqual(['1/2 buys', '']);
      const shared = both(ended, { ...suite, causeId: null }, { ...ended, causeId: 'c2' }, ran);
      expect(shared.phase).toMatchObject({ doing: '1/2 buys' });
    });
  });
});

describe('report of', () => {
  /** The report of these events, a second apart, after they were written and read. */
  function reportAfter(...events: readonly Event[]) {
    const lines = events.map((event, at) => JSON.stringify({ time: at * 1000, ...event }));
    return createReport(replayRun(lines.flatMap((line) => parseEvent(line) ?? [])));
  }

  const own: TestSimulation = (id, { fixes }) => (fixes.has(id.slice(1)) ? null : `error of ${id}`);
  const shared: TestSimulation = (_, { fixes }) => (fixes.has('1') ? null : 'shared');
  const helped: TestSimulation = (id, at) =>
    id === 't3' ? own(id, at) : at.fixes.has('1') ? null : `error of ${id}`;
  const flaky: TestSimulation = (id, at) => (id === 't1' && at.run > 1 ? null : own(id, at));
  const breaking: TestSimulation = (id, at) =>
    id === 't1' && at.fixes.has('2') ? 'broken by 2' : own(id, at);
  const hopeless: TestSimulation = (id) => `error of ${id}`;

  it.each(Object.entries({ own, shared, helped, flaky, breaking, hopeless }))(
    'RP-2 the report of a run equals that of its events: %s',
    async (_, shows) => {
      const { report, events } = await simulatedRun(['t1', 't2', 't3'], shows);
      const times = {
        startedAt: expect.any(String),
        totals: { ...report.totals, durationMs: expect.any(Number) },
      };
      expect(report.causes.length + report.totals.flaky).toBeGreaterThan(0);
      expect(reportAfter(...events)).toEqual({ ...report, ...times });
    },
  );

  it('RP-2 HN-5 has the proof of each healed cause, even one healed by another cause’s fix', async () => {
    const { report } = await simulatedRun(['t1', 't2', 't3'], helped);
    expect(report.causes[1]?.verdict).toBe('healed');
    expect(report.causes[1]?.attempts.filter(isKept)).toEqual([]);
    for (const { proof } of report.causes)
      expect(proof.join(' ')).toMatch(/^red (red )+(green )*green green green (red )+green$/);
  });

  const found = (id: string, test: string): Event => ({
    type: 'cause.found',
    cause: aCauseRecord({ id, tests: [aTest(test), aTest('t2')] }),
  });
  const started: Event = {
    type: 'run.started',
    runId: 'r1',
    project: 'shop',
    playwright: '1.65.0',
    dryRun: false,
    verify: 'quick',
  };

  it('RP-2 the report of a killed run has its findings so far, and says that the run did not end', () => {
    const begun: Event = { type: 'cause.started', causeId: 'c1' };
    expect(reportAfter(started, found('c1', 't1'), found('c2', 't3'), begun)).toMatchObject({
      runId: 'r1',
      verify: 'quick',
      outcome: 'interrupted',
      exitCode: null,
      causes: [
        { id: 'c1', verdict: 'interrupted', reason: 'the run stopped at: starting' },
        { id: 'c2', verdict: 'interrupted', reason: 'the run ended before work on it began' },
      ],
      totals: { durationMs: 3000 },
    });
  });

  it('RP-1 each test is counted once, and so is a repeated warning', () => {
    const warning: Event = { type: 'run.warning', message: 'a reporter waits' };
    const suite: Event = { type: 'cause.found', cause: aCauseRecord({ id: 'c1', tests: [] }) };
    const end = { verdict: 'healed', reason: 'fixed', proof: [], attempts: 1, costUsd: null } as const;
    const ended: Event = { type: 'cause.ended', causeId: 'c1', ...end };
    const seen: Event = {
      type: 'tests.seen',
      tests: [
        {
          id: 't1',
          title: ['a', 't1'],
          file: 'a.spec.ts',
          line: 1,
          project: '',
          verdict: 'passed',
          durationMs: 1,
        },
      ],
    };
    const report = reportAfter(started, warning, suite, ended, seen, warning, {
      ...warning,
      message: 'other',
    });
    expect(report.causes).toMatchObject([{ verdict: 'healed' }]);
    expect(report.totals).toMatchObject({ tests: 1, passed: 1, healed: 0 });
    expect(report.warnings).toEqual(['a reporter waits (2 times)', 'other']);
  });
});

const state = (hash: string): FileState => ({ kind: 'file', hash, mode: 0o644 });

it('RP-4 a run’s patch covers each file from before its first change to after its last', () => {
  const change = (id: string, path: string, before: FileState | null, after: FileState | null) => ({
    id,
    edits: [{ path, before, after }],
    folders: [],
  });
  const all = combineChanges([
    change('1', 'a.ts', state('1'), state('2')),
    change('2', 'b.ts', null, state('b')),
    change('3', 'a.ts', state('2'), state('3')),
  ]);
  expect(all.edits).toEqual([
    { path: 'a.ts', before: state('1'), after: state('3') },
    { path: 'b.ts', before: null, after: state('b') },
  ]);
});

it('HN-8 a run with an unreadable judgement does not count as one that changed nothing', () => {
  const spent = { durationMs: 1, agentRuns: 1, agentRunsAvoided: 0, costUsd: null, commit: null };
  const held: Event[] = [
    { type: 'cause.found', cause: aCauseRecord() },
    { type: 'attempt.held', causeId: 'c1', attempt: anAttempt({ change: '1' }) },
  ];
  const kept = (...events: Event[]) =>
    readKeptChanges(tempDir(), replayRun(events.map((event) => ({ time: 1, ...event }))));
  expect(kept(...held)).toEqual([]);
  expect(kept(...held, { type: 'run.ended', outcome: 'green', exitCode: 0, ...spent })).toBeNull();
});

it('RP-1 a reporter that throws is named, and the run continues without it', async () => {
  const seen: StampedEvent[] = [];
  const broken: Reporter = {
    name: 'broken',
    handle: () => {
      throw new Error('disk full');
    },
  };
  const good: Reporter = { name: 'good', handle: (event) => void seen.push(event) };
  const bus = createBus([broken, good], virtualClock(7));
  bus.emit({ type: 'run.warning', message: 'a' });
  bus.emit({ type: 'run.warning', message: 'b' });
  expect(seen.map((event) => event.time)).toEqual([7, 7]);
  expect(await bus.close()).toEqual(['reporter broken: disk full']);
});
