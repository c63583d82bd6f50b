import type { AttemptEnd } from '../model/attempt.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { failureKey } from '../model/failure.js';
import type { CauseEnd } from '../model/verdict.js';
import { askPerson, askAboutEdits } from './ask.js';
import { fixedOutside, wasFixedOutside } from './fixed-outside.js';
import { isEdited } from './test-files.js';
import type { CauseWork } from './cause-work.js';
import {
  listCauseAttempts,
  listCauseChanges,
  endCause,
  findHeldAttempt,
  isUnproven,
  type Progress,
  type ProofTest,
  findCauseState,
  listProofSteps,
  createTestProofs,
  getCurrentVerdict,
} from './progress.js';
import type { KeyedFailures } from './apply-result.js';
import { decideHeldAttempt, revertFixes } from './revert-fixes.js';
import { announceVerdicts } from './announce-tests.js';

/** Why a fix is not proven. */
export type Refutation = Extract<AttemptEnd, { kind: 'rejected' | 'still-failing' | 'flaky' | 'offered' }>;

/** The result of a proof, without the runs of each test. */
export interface ProofResult {
  /** The reasons why it is unclear whether a fix is needed, by the id of its cause. The tests of that cause are green with the fix. */
  readonly unproven: ReadonlyMap<string, string>;
  /** The refutations of fixes, by the id of the cause. */
  readonly refuted: ReadonlyMap<string, Refutation>;
  /** The ids of causes whose error disappeared when the fix that had revealed it was reverted. */
  readonly vanished: ReadonlySet<string>;
  /** Newly red tests without a cause, by failure key. */
  readonly newFailures: ReadonlyMap<string, DiagnosedFailure>;
}

/** The work that remains after a proof. */
export interface Remainder {
  /** Causes to heal again, because their fix did not hold. */
  readonly toRepeat: readonly CauseWork[];
  /** Tests that turned out to be red and need a new cause. */
  readonly failures: KeyedFailures;
}

/** Reverts all unproven fixes after an interrupt, and keeps their patches. */
export async function abandonProof(progress: Progress): Promise<void> {
  const isUnprovenCause = (cause: Cause) => isUnproven(progress, cause);
  const isHeld = (cause: Cause) => findHeldAttempt(progress, cause) !== null;
  const causes = [...progress.causes.values()];
  const causesWithFix = causes.filter(isHeld);
  if (causesWithFix.length > 0)
    await revertFixes(
      progress,
      causesWithFix.flatMap((cause) => listCauseChanges(progress, cause)),
    );
  for (const cause of causes.filter(isUnprovenCause)) {
    await decideHeldAttempt(progress, cause, { kind: 'interrupted', because: 'interrupted' });
    const reason = 'interrupted before its fix was proven';
    await endCause(progress, cause, { verdict: 'interrupted', reason });
  }
  progress.proofTests.length = 0;
}

/** Records and announces the result of the proof for each cause and each test. */
export async function applyProof(
  progress: Progress,
  { refuted, vanished, newFailures, unproven }: ProofResult,
): Promise<Remainder> {
  const toRepeat: CauseWork[] = [];
  for (const cause of [...progress.causes.values()].filter((other) => isUnproven(progress, other))) {
    const { id } = cause;
    const tests = progress.proofTests.filter(({ causeId }) => causeId === id);
    const outcome = {
      tests,
      refutation: refuted.get(id),
      hasVanished: vanished.has(id),
      unproven: unproven.get(id),
    };
    const work = await applyToCause(progress, cause, outcome);
    if (work) toRepeat.push(work);
  }
  const failures = new Map(newFailures);
  for (const test of progress.proofTests) {
    const { ended = null } = findCauseState(progress, { id: test.causeId }) ?? {};
    // A person decides about the tests of an escalated cause.
    const remaining =
      test.hasOwnCause || ended?.verdict === 'escalated'
        ? null
        : applyToTest(progress, test, {
            refutation: refuted.get(test.causeId),
            hasUnprovenFix: unproven.has(test.causeId),
          });
    if (remaining) failures.set(failureKey(remaining.failure), remaining);
  }
  progress.proofTests.length = 0;
  return { toRepeat, failures: [...failures] };
}

interface CauseProof {
  tests: readonly ProofTest[];
  refutation: Refutation | undefined;
  hasVanished: boolean;
  unproven: string | undefined;
}

/** Ends a cause as its proof says; returns its work if the cause must be healed again. */
async function applyToCause(
  progress: Progress,
  cause: Cause,
  { tests, refutation, hasVanished, unproven }: CauseProof,
): Promise<CauseWork | null> {
  const { session } = progress;
  const before = findCauseState(progress, cause)?.ended ?? null;
  const tried = progress.finishedWork.get(cause.id);
  const isByAgent = findHeldAttempt(progress, cause)?.agent != null;
  const hasProvenTest = tests.some(({ ended }) => ended === null);
  const leadTest =
    tests.find(({ ended, isLead }) => isLead && ended === null) ??
    tests.find(({ ended }) => ended === null) ??
    tests[0];
  const testProofs = tests.length > 1 ? { testProofs: createTestProofs(progress, tests) } : {};
  const proof = { proof: leadTest ? listProofSteps(progress, leadTest) : [], ...testProofs };
  const isHealed = (reason: string): CauseEnd =>
    unproven === undefined
      ? { verdict: 'healed', reason }
      : { verdict: 'green-once', reason: unproven, unproven: true };
  const reasonFromOthers = progress.greenWithOthers.get(cause.id);
  if (reasonFromOthers !== undefined && hasProvenTest) {
    await endCause(progress, cause, { ...isHealed(reasonFromOthers), ...proof });
  } else if (reasonFromOthers !== undefined) {
    progress.greenWithOthers.delete(cause.id);
    // The cause keeps the end that it had before another fix seemed to heal it.
    if (before !== null) return null;
    const isFlaky = tests.every(({ ended }) => ended === 'flaky');
    await endCause(
      progress,
      cause,
      isFlaky
        ? { verdict: 'flaky', reason: 'also green without the fix' }
        : { verdict: 'superseded', reason: 'red again despite the fix that had turned it green' },
    );
  } else if (refutation) {
    const isFixedOutside =
      refutation.kind === 'flaky' && isByAgent && (await wasFixedOutside(session, cause));
    const end = isFixedOutside ? fixedOutside : refutation;
    await decideHeldAttempt(progress, cause, end);
    const reason = end.because;
    if (refutation.kind === 'flaky' && tried && isEdited(session, cause))
      await askAboutFix(progress, tried, null);
    else if (isFixedOutside && tried) await askAboutFix(progress, tried, reason);
    else if (refutation.kind === 'flaky') await endCause(progress, cause, { verdict: 'flaky', reason });
    else if (refutation.kind === 'offered' && !refutation.hides && tried)
      await askAboutFix(progress, tried, reason);
    else if (hasVanished) {
      announceVerdicts(session, cause.members, { verdict: 'failed' });
      await endCause(progress, cause, { verdict: 'failed', reason });
    } else if (tried) {
      tried.attempts = listCauseAttempts(progress, cause);
      return tried;
    }
  } else if (getCurrentVerdict(progress, cause) === 'superseded') {
    // Dead ends have been reverted by now, so a proven heal depends on this fix.
    await decideHeldAttempt(progress, cause);
  } else {
    if (tried && isEdited(session, cause)) {
      await decideHeldAttempt(progress, cause, { kind: 'taken-out', because: 'somebody edited its test' });
      await askAboutFix(progress, tried, null);
      return null;
    }
    await decideHeldAttempt(progress, cause, { kind: 'green', ...proof });
    await endCause(progress, cause, isHealed(tried?.end?.reason ?? ''));
  }
  return null;
}

/** Asks a person about a fix that has been reverted, or, if `question` is null, about other people's edits to its tests. */
async function askAboutFix(progress: Progress, work: CauseWork, question: string | null): Promise<void> {
  const { session } = progress;
  work.attempts = listCauseAttempts(progress, work.cause);
  announceVerdicts(session, work.cause.members, { verdict: 'escalated' });
  const end = question === null ? askAboutEdits(session, work) : askPerson(session, work, question);
  await endCause(progress, work.cause, await end);
}

/** Decides the final status of a test; returns its failure if it needs a new cause. */
function applyToTest(
  progress: Progress,
  { failure, ended, isLead, causeId }: ProofTest,
  {
    refutation,
    hasUnprovenFix,
  }: { readonly refutation: Refutation | undefined; readonly hasUnprovenFix: boolean },
): DiagnosedFailure | null {
  const { session } = progress;
  // The cause of this test will be healed again.
  if (refutation && refutation.kind !== 'flaky') return null;
  if (ended === 'red' || ended === 'unsteady')
    return session.observations.findLatestFailure(failure) ?? failure;
  const isFlaky = ended === 'flaky' || refutation?.kind === 'flaky';
  const verdict = isFlaky ? 'flaky' : hasUnprovenFix ? 'green-once' : 'healed';
  announceVerdicts(session, [failure], { verdict, sharedFix: !isLead && !isFlaky });
  if (isFlaky && failure.failure.scope === 'test')
    session.bus.emit({ type: 'cause.flaky', tests: [failure.failure.test], causeId });
  return null;
}
