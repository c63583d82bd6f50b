import type { Attempt } from '../core/attempt.js';
import type { Cause, DiagnosedFailure } from '../core/cause.js';
import { chooseFlipped } from '../core/choose-flipped.js';
import { isGreen } from '../core/judge.js';
import { type CauseRecord, type Progress, proofTest, put } from './progress.js';
import { retest, type Retest } from './retest.js';

/**
 * Checks whether an earlier fix of this round has healed this cause too, wholly or in part, so that nobody pays for it twice. Returns
 * what is left of the cause, or null. If a run of the current tree has already shown it red, it is not run again.
 */
export async function unhealedYet(
  progress: Progress,
  cause: Cause,
  attempts: readonly Attempt[] = [],
): Promise<Cause | null> {
  const { session } = progress;
  if (session.observations.isRed(cause.lead)) return cause;
  const seen = await retest(session, {
    failures: [...cause.members],
    purpose: 'shared-fix',
    causeId: cause.id,
  });
  return leftOf(progress, cause, { seen, attempts });
}

/** Records which tests of a cause a run shows green with fixes of other causes; returns what is left of the cause, or null. */
export function leftOf(
  progress: Progress,
  cause: Cause,
  { seen, attempts }: { readonly seen: Retest; readonly attempts: readonly Attempt[] },
): Cause | null {
  const failures = [...cause.members];
  const red = failures.filter((member) => !isGreen(seen.observe(member)));
  for (const member of failures) if (!red.includes(member)) takeGreen(progress, cause, member);
  const [first] = red;
  if (red.length === failures.length) return cause;
  if (first) return { ...cause, members: red, lead: red.includes(cause.lead) ? cause.lead : first };
  const reason = 'healed by an earlier fix of this run';
  const unproven = { by: 'other-fix', otherwise: null } as const;
  put(progress, { cause, verdict: 'healed', reason, attempts, unproven });
  return null;
}

/** Records a test that is green with another test's fix; it is proven like any other (HN-5). */
function takeGreen(progress: Progress, cause: Cause, failure: DiagnosedFailure): void {
  const isFlipped = chooseFlipped(cause).has(failure);
  progress.proofTests.push(proofTest(progress, { failure, causeId: cause.id, isLead: false, isFlipped }));
}

/**
 * Re-runs the tests of causes that no agent could heal unless they were last red with the fixes that are now in the tree, since one of
 * those may have healed them: their final status has to be true of the final code.
 */
export async function recheckFailed(progress: Progress): Promise<void> {
  const { session, causes } = progress;
  if (session.workspace.applied().length === 0) return;
  const given = causes.filter(canBeHealedYet);
  const failures = given
    .flatMap((one) => one.cause.members)
    .filter((one) => !session.observations.isRed(one));
  if (failures.length === 0 || session.signal.aborted) return;
  const seen = await retest(session, { failures, purpose: 'shared-fix', causeId: null });
  for (const one of given) {
    const green = one.cause.members.filter(
      (member) => failures.includes(member) && isGreen(seen.observe(member)),
    );
    for (const member of green) takeGreen(progress, one.cause, member);
    if (green.length < one.cause.members.length) continue;
    const reason = 'healed by a later fix of this run';
    const unproven = { by: 'other-fix', otherwise: one } as const;
    put(progress, { ...one, verdict: 'healed', reason, overBudget: false, unproven });
  }
}

function canBeHealedYet({ verdict, cause }: CauseRecord): boolean {
  return ['failed', 'rejected', 'escalated'].includes(verdict) && cause.lead.failure.scope === 'test';
}
