import type { Cause } from '../model/cause.js';
import { isGreen } from './judge.js';
import { retest } from './retest.js';
import type { Session } from './session.js';
import { isEdited } from './test-files.js';

/** How often a test must be green, after runs that were all red, to tell a fix outside the project from a flaky test. */
const GREENS = 3;

/** The end of an attempt whose test has been green ever since, but not because of its patch. */
export const fixedOutside = {
  kind: 'flaky',
  isOutside: true,
  because:
    'its test has been green in each run since then. No patch contains what made it green, which may be a package, an ignored file or a database',
} as const;

/**
 * True if the test of a cause was red in every run before its last attempt and is green in every run since. If there are too few runs to tell, runs
 * it again.
 */
export async function wasFixedOutside(session: Session, cause: Cause): Promise<boolean> {
  // An error that a fix in this run revealed may be gone with the state that showed it.
  if (cause.parent !== null || isEdited(session, cause)) return false;
  const { observations, signal } = session;
  while (!signal.aborted) {
    const greens = observations.countGreenRunsAfterRed(cause.lead);
    if (greens === null || greens >= GREENS) return greens !== null;
    const rerun = await retest(session, { failures: [cause.lead], purpose: 'retest', causeId: cause.id });
    if (!isGreen(rerun.observe(cause.lead))) return false;
  }
  return false;
}
