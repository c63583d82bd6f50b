import { expect, it } from 'vitest';
import { healRun } from '../../../src/heal/run.js';
import { noStore, type RunStore } from '../../../src/run/run-store.js';
import { tellSeen } from '../../../src/heal/tell-tests.js';
import { reportOf, type Report } from '../../../src/run/report.js';
import type { Session } from '../../../src/heal/session.js';
import { aDiagnosis, aResult, aSuiteRun, failing, someSettings } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';

const settings = someSettings({ verify: { ...someSettings().verify, confirm: 1, regression: 'none' } });

/** The totals of a run whose tests are all red at first, and of which `red` are red again when re-run. */
async function runOf(
  ids: readonly string[],
  red: readonly string[],
  over: Partial<Session> = {},
): Promise<Report['totals']> {
  const run = (isRed: (id: string) => boolean) =>
    aSuiteRun({ tests: ids.map((id) => aResult(id, isRed(id) ? 'unexpected' : 'expected')) });
  const { session, agents } = await healingSession([], {
    settings,
    runAgain: async () => run((id) => red.includes(id)),
    diagnose: async ({ tests }) =>
      tests
        .filter(({ outcome }) => outcome === 'unexpected')
        .map(({ test }) =>
          failing(test.id, `401 of ${test.id}`, { diagnosis: aDiagnosis({ retry: 'never_retry' }) }),
        ),
    ...over,
  });
  const first = run(() => true);
  tellSeen(session, first);
  await healRun(session, first);
  expect(agents).toEqual([]);
  return reportOf(session.bus.run()).totals;
}

it('RP-1 says why agent runs were avoided, and the counts add up', async () => {
  const store: RunStore = { ...noStore, quarantines: async () => [{ testId: 't3' }] as never };
  const totals = await runOf(['t1', 't2', 't3', 't4'], ['t4'], { store });
  expect(totals).toMatchObject({
    agentRuns: 0,
    agentRunsAvoided: 4,
    avoided: [
      { reason: 'quarantined', count: 1 },
      { reason: 'flaky', count: 2 },
      { reason: 'person-needed', count: 1 },
    ],
  });
});

it('RP-1 a run in which nothing was avoided gives no reasons', async () => {
  expect(await runOf([], [])).toMatchObject({ agentRunsAvoided: 0, avoided: [] });
});
