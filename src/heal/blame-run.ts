import { groupCauses } from '../core/group.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { applyFlaky } from './apply-result.js';
import { confirm } from './confirm.js';
import { type Healed, newProgress } from './progress.js';
import type { Session } from './session.js';
import { summarise } from './summarise.js';

/** Searches for the change that broke each cause, without starting agents (BL-1). No change is to blame for a test that is green when re-run. */
export async function blameRun(session: Session, first: SuiteRun): Promise<Healed> {
  const progress = newProgress(session, first);
  const { confirmed, flaky } = await confirm(progress, await session.diagnose(first));
  applyFlaky(progress, flaky);
  const causes = groupCauses(confirmed);
  for (const cause of causes) session.bus.emit({ type: 'cause.found', cause: summarise(cause) });
  if (!session.signal.aborted) await session.blame?.(causes);
  return { causes: [], suiteRed: first.suiteFailure !== null, paused: false };
}
