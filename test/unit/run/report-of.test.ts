import { expect, it } from 'vitest';
import { type Event, eventIn } from '../../../src/event.js';
import { runOf } from '../../../src/run/run-state.js';
import { reportOf } from '../../../src/run/report.js';
import { anAttempt, aTest } from '../../rig/builders.js';
import { aCauseSummary } from '../../rig/shown-run.js';
import { simulatedRun, type Shows } from '../../rig/simulated-run.js';

/** The report of these events, a second apart, after they were written and read. */
function reportAfter(...events: readonly Event[]) {
  const lines = events.map((event, at) => JSON.stringify({ time: at * 1000, ...event }));
  return reportOf(runOf(lines.flatMap((line) => eventIn(line) ?? [])));
}

const own: Shows = (id, { fixes }) => (fixes.has(id.slice(1)) ? null : `error of ${id}`);
const shared: Shows = (_, { fixes }) => (fixes.has('1') ? null : 'shared');
const helped: Shows = (id, at) => (id === 't3' ? own(id, at) : at.fixes.has('1') ? null : `error of ${id}`);
const flaky: Shows = (id, at) => (id === 't1' && at.run > 1 ? null : own(id, at));
const breaking: Shows = (id, at) => (id === 't1' && at.fixes.has('2') ? 'broken by 2' : own(id, at));
const hopeless: Shows = (id) => `error of ${id}`;

it.each(Object.entries({ own, shared, helped, flaky, breaking, hopeless }))(
  'RP-2 the report of a run is the same as that of its events: %s',
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

it('RP-2 HN-5 has the proof of each healed cause, also of one that the fix of another cause healed', async () => {
  const { report } = await simulatedRun(['t1', 't2', 't3'], helped);
  expect(report.causes[1]).toMatchObject({ verdict: 'healed', attempts: [] });
  for (const { proof } of report.causes) {
    expect(proof.slice(0, 2)).toEqual(['red', 'red']);
    expect(proof.slice(-5)).toEqual(['green', 'green', 'green', 'red', 'green']);
  }
});

const found = (id: string, test: string): Event => ({
  type: 'cause.found',
  cause: aCauseSummary({ id, tests: [aTest(test), aTest('t2')] }),
});
const started: Event = {
  type: 'run.started',
  runId: 'r1',
  project: 'shop',
  playwright: '1.65.0',
  dryRun: false,
  verify: 'quick',
};

it('RP-2 the report of a killed run says what was found and started, and that the run did not end', () => {
  const begun: Event = { type: 'cause.started', causeId: 'c1' };
  expect(reportAfter(started, found('c1', 't1'), found('c2', 't3'), begun)).toMatchObject({
    runId: 'r1',
    verify: 'quick',
    outcome: 'interrupted',
    exitCode: null,
    causes: [
      { id: 'c1', verdict: 'interrupted', reason: 'the run stopped at: starting' },
      { id: 'c2', verdict: 'interrupted', reason: 'the run ended before its turn' },
    ],
    totals: { durationMs: 3000 },
  });
});

it('RP-2 HL-6 a cause that an earlier fix narrowed has only its remaining tests, and its re-runs count only for these', () => {
  const seen = (id: string) => ({
    id,
    title: [id],
    file: 'a.spec.ts',
    line: 1,
    project: '',
    verdict: 'failed' as const,
    durationMs: 1,
  });
  const left = aCauseSummary({ tests: [aTest('t2')] });
  const report = reportAfter(
    started,
    { type: 'tests.seen', tests: [seen('t1'), seen('t2')] },
    found('c1', 't1'),
    { type: 'cause.narrowed', cause: left },
    { type: 'attempt.judged', causeId: 'c1', attempt: anAttempt() },
    { type: 'tests.decided', ids: ['t1'], verdict: 'healed', sharedFix: true },
  );
  expect(report.causes).toMatchObject([{ id: 'c1', tests: ['t2'] }]);
  expect(report.tests).toMatchObject([
    { id: 't1', verdict: 'healed', sharedFix: true, retries: 0, causeIds: ['c1'] },
    { id: 't2', verdict: 'failed', retries: 1, causeId: 'c1' },
  ]);
});
