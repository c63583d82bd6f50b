import { expect, it } from 'vitest';
import { runRegression } from '../../../src/heal/regression.js';
import { tellSeen } from '../../../src/heal/tell-tests.js';
import { reportOf } from '../../../src/run/report.js';
import { newProgress } from '../../../src/heal/progress.js';
import { aCause, anAttempt, aResult, aSuiteRun, failing, someSettings, anEnd } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';

const withRegression = someSettings({ verify: { ...someSettings().verify, regression: 'suite' } });
const broken = aSuiteRun({ suiteFailure: { scope: 'suite', errors: [], stderr: '' } });
const kept = anAttempt({ end: anEnd('green'), change: '1' });

/** A run whose first suite did not start and whose tests appeared after kept fixes; `red` are the red tests of each run that follows. */
async function regressionAfter(red: readonly (readonly string[])[], fixes = [kept]) {
  const ids = ['t1', 't2', 't3'];
  const asked: (readonly string[] | null)[] = [];
  const { session, moves, events } = await healingSession([], {
    settings: withRegression,
    runAgain: async (request) => {
      asked.push(request.ids);
      const now = red[asked.length - 1] ?? [];
      return aSuiteRun({ tests: ids.map((id) => aResult(id, now.includes(id) ? 'unexpected' : 'expected')) });
    },
  });
  tellSeen(session, broken);
  tellSeen(session, aSuiteRun({ tests: ids.map((id) => aResult(id)) }));
  const progress = newProgress(session, broken);
  for (const [n, attempt] of fixes.entries()) {
    const cause = aCause({ id: `c${n + 1}`, lead: failing('t1') });
    progress.causes.push({ cause, verdict: 'healed', reason: '', attempts: [attempt], overBudget: false });
  }
  const { red: unexplained } = await runRegression(progress, broken, []);
  const { regression, tests } = reportOf(session.bus.run());
  return { regression, tests, unexplained: [...unexplained], asked, moves, progress, events };
}

it('HN-6 includes tests in the regression run that appeared only after a fix', async () => {
  const { regression, asked } = await regressionAfter([[]]);
  expect(regression).toEqual({ tests: 3, leftOut: 0, broke: [] });
  expect(asked).toEqual([null]);
});

it('HN-6 reports a test that is red in the regression run and green in its re-run as flaky, and reverts no fix', async () => {
  const { regression, tests, moves } = await regressionAfter([['t2'], []]);
  expect(regression?.broke).toEqual([]);
  expect(tests.map((one) => one.verdict)).toEqual(['passed', 'flaky', 'passed']);
  expect(moves).toEqual([]);
});

it('HN-6 reverts the fix without which a broken test is green, and its cause says so', async () => {
  const { regression, moves, progress, events } = await regressionAfter([['t3'], ['t3'], []]);
  expect(regression?.broke).toMatchObject([{ causeId: 'c1', tests: ['t3'] }]);
  expect(moves).toEqual(['without 1', 'revert 1']);
  expect(progress.causes[0]).toMatchObject({ verdict: 'failed', attempts: [{ end: { kind: 'taken-out' } }] });
  // After a kill, the kept fixes are read from the events (HN-8).
  expect(events).toContainEqual({
    type: 'attempt.judged',
    causeId: 'c1',
    attempt: { ...kept, end: { kind: 'taken-out', because: expect.any(String) as unknown } },
  });
});

it('HN-6 puts the fix back if the test is red without it too, and the test stays red', async () => {
  const { regression, unexplained, moves } = await regressionAfter([['t3'], ['t3'], ['t3']]);
  expect(regression?.broke).toEqual([]);
  expect(moves).toEqual(['without 1', 'without']);
  expect(unexplained).toEqual(['t3']);
});

it('HN-6 reverts all fixes that broke the same test, and only them', async () => {
  const fixes = ['1', '2', '3'].map((change) => ({ ...kept, change }));
  const stillRed = Array.from({ length: 5 }, () => ['t3']);
  // Red with each of them out, green with all, red with the newest out as before, green with the newest two, and in the end.
  const { regression, unexplained, moves, progress } = await regressionAfter(
    [...stillRed, [], [], []],
    fixes,
  );
  expect(moves).toEqual([
    'without 3',
    'without 2',
    'without 1',
    'without 3,2,1',
    'without 3,2',
    'revert 3,2',
  ]);
  expect(regression?.broke).toEqual([
    { causeId: 'c3', tests: ['t3'] },
    { causeId: 'c2', tests: ['t3'] },
  ]);
  expect(progress.causes.map(({ verdict }) => verdict)).toEqual(['healed', 'failed', 'failed']);
  expect(unexplained).toEqual([]);
});
