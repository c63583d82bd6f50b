import { canBeReverted } from '../core/blame.js';
import type { Cause } from '../core/cause.js';
import { chooseProven } from '../core/choose-proven.js';
import { isGreen } from '../core/judge.js';
import { readChange } from '../workspace/change.js';
import { retest } from './retest.js';
import type { Session } from './session.js';

/**
 * Whether a person can be offered to revert the change that broke a cause: without that change in the current project, all tests of
 * the cause that get the full proof are green in one run (BL-4). The change is put back immediately, whatever the result.
 */
export async function canRevert(session: Session, cause: Cause): Promise<boolean> {
  if (!canBeReverted(cause.blame) || session.signal.aborted) return false;
  const change = await readChange(session.folder.dir, cause.blame.change);
  const applied = change && (await session.workspace.apply(change));
  if (applied?.kind !== 'applied') return false;
  const failures = [...chooseProven(cause)];
  const seen = await retest(session, { failures, purpose: 'blame', causeId: cause.id });
  await session.workspace.revert([applied.change.id]);
  if (session.signal.aborted) return false;
  return failures.every((one) => isGreen(seen.observe(one)));
}
