import type { Cause } from '../core/cause.js';
import { groupCauses } from '../core/group.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { createTestRecords } from '../run/test-records.js';
import { retest } from './retest.js';
import type { RunRecord } from './run.js';
import type { Session } from './session.js';
import { summarise } from './summarise.js';

/** Looks for the change that broke each cause, and starts no agent (BL-1). A test that is green when it runs again is flaky, and no change's fault. */
export async function blameRun(session: Session, first: SuiteRun): Promise<RunRecord> {
  const records = createTestRecords();
  records.saw(first);
  const found = groupCauses(await session.diagnose(first));
  for (const cause of found) {
    records.causeFound(cause);
    session.bus.emit({ type: 'cause.found', cause: summarise(cause) });
  }
  const red = await confirmed(session, found);
  const blamed = session.signal.aborted ? red : ((await session.blame?.(red)) ?? red);
  const causes = found.map((cause) => blamed.find(({ id }) => id === cause.id) ?? cause);
  const isRed = ({ id }: Cause) => red.some((one) => one.id === id);
  return {
    first,
    tests: records.all(),
    causes: causes.map((cause) => ({
      cause,
      ...(isRed(cause)
        ? { verdict: 'failed', reason: 'no agent was asked' }
        : { verdict: 'flaky', reason: 'green when it ran again' }),
      attempts: [],
      overBudget: false,
    })),
    suiteRed: first.suiteFailure !== null,
    paused: false,
    regression: null,
  };
}

async function confirmed(session: Session, causes: readonly Cause[]): Promise<readonly Cause[]> {
  if (causes.length === 0) return causes;
  const failures = causes.map(({ lead }) => lead);
  const seen = await retest(session, { failures, purpose: 'confirm', causeId: null });
  return causes.filter(({ lead }) => {
    const { ended, suiteFailure } = seen.observe(lead);
    return ended !== 'passed' || suiteFailure !== null;
  });
}
