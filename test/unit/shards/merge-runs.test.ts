import { expect, it } from 'vitest';
import { mergeRuns } from '../../../src/shards/merge-runs.js';
import { aSuiteFailure, aSuiteRun, aTest, aTestFailure } from '../../rig/builders.js';
import { ranAs } from '../../rig/shard-folders.js';

const of = (run: ReturnType<typeof aSuiteRun>) => ({ run, known: new Map() });
const ends = (run: ReturnType<typeof aSuiteRun>) =>
  Object.fromEntries(run.tests.map(({ test, outcome }) => [test.id, outcome]));

it('SC-1 counts a test that several shards ran once, by its worst result', () => {
  const set = aTestFailure({ test: aTest('set-up') });
  const { run } = mergeRuns([
    of(ranAs({ 'set-up': 'expected', a: 'expected' })),
    of({
      ...ranAs({ 'set-up': 'unexpected', b: 'not-run' }),
      status: 'failed',
      exitCode: 1,
      failures: [set],
    }),
    of({ ...ranAs({ 'set-up': 'unexpected', c: 'flaky' }), failures: [{ ...set }] }),
  ]);
  expect(ends(run)).toEqual({ 'set-up': 'unexpected', a: 'expected', b: 'not-run', c: 'flaky' });
  expect(run.failures).toEqual([set]);
  expect(run).toMatchObject({ status: 'failed', exitCode: 1, suiteFailure: null, durationMs: 300 });
});

it('SC-1 re-runs a test with all that depends on it, on whichever shard that ran', () => {
  const { run } = mergeRuns([
    of(aSuiteRun({ rerunIds: { 'set-up': ['set-up', 'a'] } })),
    of(aSuiteRun({ rerunIds: { 'set-up': ['set-up', 'b'], x: ['x'] } })),
  ]);
  expect(run.rerunIds).toEqual({ 'set-up': ['set-up', 'a', 'b'], x: ['x'] });
});

it('SC-1 has one suite failure if the suite did not start on some machines, beside the tests that ran', () => {
  const broken = aSuiteFailure();
  const { run } = mergeRuns([
    of(ranAs({ a: 'expected' })),
    of(aSuiteRun({ suiteFailure: broken, status: 'no-report', serverLog: '/logs/2/server.log' })),
    of(aSuiteRun({ suiteFailure: aSuiteFailure('another') })),
  ]);
  expect(run).toMatchObject({ suiteFailure: broken, serverLog: '/logs/2/server.log', status: 'no-report' });
  expect(ends(run)).toEqual({ a: 'expected' });
});
