import type { AttemptEnd } from '../model/attempt.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { failureKey } from '../model/failure.js';
import type { CauseEnd } from '../model/verdict.js';
import { ask, askAboutEdits } from './ask.js';
import { fixedOutside, wasFixedOutside } from './fixed-outside.js';
import { isEdited } from './test-files.js';
import type { CauseWork } from './cause-work.js';
import {
  listAttemptsOf,
  listChangesOf,
  endCause,
  findHeldAttempt,
  isUnproven,
  type Progress,
  type ProofTest,
  findCauseState,
  listProofSteps,
  createTestProofs,
  currentVerdict,
} from './progress.js';
import type { ByKey } from './apply-result.js';
import { decideLast, revertFixes } from './revert-fixes.js';
import { announceVerdicts } from './tell-tests.js';

/** Why a fix is not proven. */
export type Refutation = Extract<AttemptEnd, { kind: 'rejected' | 'still-failing' | 'flaky' | 'offered' }>;

/** The result of a proof, without the runs of each test. */
export interface ProofResult {
  /** The reasons why it is unclear whether a fix is needed, by the id of the cause, whose tests are green with it. */
  readonly unproven: ReadonlyMap<string, string>;
  /** The refutations of fixes, by the id of the cause. */
  readonly refuted: ReadonlyMap<string, Refutation>;
  /** The ids of causes whose error disappeared when the fix that had revealed it was reverted. */
  readonly gone: ReadonlySet<string>;
  /** Newly red tests without a cause, by failure key. */
  readonly others: ReadonlyMap<string, DiagnosedFailure>;
}

/** The work that remains after a proof. */
export interface Remainder {
  /** Causes to heal again, because their fix did not hold. */
  readonly again: readonly CauseWork[];
  /** Tests that turned out to be red and need a new cause. */
  readonly failures: ByKey;
}

/** Reverts all unproven fixes after an interrupt, and keeps their patches. */
export async function abandonProof(progress: Progress): Promise<void> {
  const isOpen = (cause: Cause) => isUnproven(progress, cause);
  const isHeld = (cause: Cause) => findHeldAttempt(progress, cause) !== null;
  const causes = [...progress.causes.values()];
  const held = causes.filter(isHeld);
  if (held.length > 0)
    await revertFixes(
      progress,
      held.flatMap((cause) => listChangesOf(progress, cause)),
    );
  for (const cause of causes.filter(isOpen)) {
    await decideLast(progress, cause, { kind: 'interrupted', because: 'interrupted' });
    const reason = 'interrupted before its fix was proven';
    await endCause(progress, cause, { verdict: 'interrupted', reason });
  }
  progress.proofTests.length = 0;
}

/** Records and announces the result of the proof for each cause and each test. */
export async function applyProof(
  progress: Progress,
  { refuted, gone, others, unproven }: ProofResult,
): Promise<Remainder> {
  const again: CauseWork[] = [];
  for (const cause of [...progress.causes.values()].filter((other) => isUnproven(progress, other))) {
    const { id } = cause;
    const tests = progress.proofTests.filter(({ causeId }) => causeId === id);
    const outcome = { tests, how: refuted.get(id), isGone: gone.has(id), unproven: unproven.get(id) };
    const workToRepeat = await applyToCause(progress, cause, outcome);
    if (workToRepeat) again.push(workToRepeat);
  }
  const failures = new Map(others);
  for (const test of progress.proofTests) {
    const { ended = null } = findCauseState(progress, { id: test.causeId }) ?? {};
    // A person decides about the tests of an escalated cause.
    const remaining =
      test.isOther || ended?.verdict === 'escalated'
        ? null
        : applyToTest(progress, test, {
            how: refuted.get(test.causeId),
            isAsked: unproven.has(test.causeId),
          });
    if (remaining) failures.set(failureKey(remaining.failure), remaining);
  }
  progress.proofTests.length = 0;
  return { again, failures: [...failures] };
}

interface CauseProof {
  tests: readonly ProofTest[];
  how: Refutation | undefined;
  isGone: boolean;
  unproven: string | undefined;
}

/** Ends a cause as its proof says; returns its work if the cause must be healed again. */
async function applyToCause(
  progress: Progress,
  cause: Cause,
  { tests, how, isGone, unproven }: CauseProof,
): Promise<CauseWork | null> {
  const { session } = progress;
  const before = findCauseState(progress, cause)?.ended ?? null;
  const tried = progress.tried.get(cause.id);
  const isAgents = findHeldAttempt(progress, cause)?.agent != null;
  const holds = tests.some(({ ended }) => ended === null);
  const leading =
    tests.find(({ ended, isLead }) => isLead && ended === null) ??
    tests.find(({ ended }) => ended === null) ??
    tests[0];
  const several = tests.length > 1 ? { testProofs: createTestProofs(progress, tests) } : {};
  const proof = { proof: leading ? listProofSteps(progress, leading) : [], ...several };
  const isHealed = (reason: string): CauseEnd =>
    unproven === undefined
      ? { verdict: 'healed', reason }
      : { verdict: 'green-once', reason: unproven, unproven: true };
  const byOthers = progress.greenWithOthers.get(cause.id);
  if (byOthers !== undefined && holds) {
    await endCause(progress, cause, { ...isHealed(byOthers), ...proof });
  } else if (byOthers !== undefined) {
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
  } else if (how) {
    const isOutside = how.kind === 'flaky' && isAgents && (await wasFixedOutside(session, cause));
    const end = isOutside ? fixedOutside : how;
    await decideLast(progress, cause, end);
    const reason = end.because;
    if (how.kind === 'flaky' && tried && isEdited(session, cause)) await askAbout(progress, tried, null);
    else if (isOutside && tried) await askAbout(progress, tried, reason);
    else if (how.kind === 'flaky') await endCause(progress, cause, { verdict: 'flaky', reason });
    else if (how.kind === 'offered' && !how.hides && tried) await askAbout(progress, tried, reason);
    else if (isGone) {
      announceVerdicts(session, cause.members, { verdict: 'failed' });
      await endCause(progress, cause, { verdict: 'failed', reason });
    } else if (tried) {
      tried.attempts = listAttemptsOf(progress, cause);
      return tried;
    }
  } else if (currentVerdict(progress, cause) === 'superseded') {
    // Dead ends have been reverted by now, so a proven heal depends on this fix.
    await decideLast(progress, cause);
  } else {
    if (tried && isEdited(session, cause)) {
      await decideLast(progress, cause, { kind: 'taken-out', because: 'somebody edited its test' });
      await askAbout(progress, tried, null);
      return null;
    }
    await decideLast(progress, cause, { kind: 'green', ...proof });
    await endCause(progress, cause, isHealed(tried?.end?.reason ?? ''));
  }
  return null;
}

/** Asks a person about a fix that has been reverted, or, if `question` is null, about other people's edits to its tests. */
async function askAbout(progress: Progress, work: CauseWork, question: string | null): Promise<void> {
  const { session } = progress;
  work.attempts = listAttemptsOf(progress, work.cause);
  announceVerdicts(session, work.cause.members, { verdict: 'escalated' });
  const end = question === null ? askAboutEdits(session, work) : ask(session, work, question);
  await endCause(progress, work.cause, await end);
}

/** Decides the final status of a test; returns its failure if it needs a new cause. */
function applyToTest(
  progress: Progress,
  { failure, ended, isLead, causeId }: ProofTest,
  { how, isAsked }: { readonly how: Refutation | undefined; readonly isAsked: boolean },
): DiagnosedFailure | null {
  const { session } = progress;
  // The cause of this test will be healed again.
  if (how && how.kind !== 'flaky') return null;
  if (ended === 'red' || ended === 'unsteady') return session.observations.latestFailure(failure) ?? failure;
  const isFlaky = ended === 'flaky' || how?.kind === 'flaky';
  const verdict = isFlaky ? 'flaky' : isAsked ? 'green-once' : 'healed';
  announceVerdicts(session, [failure], { verdict, sharedFix: !isLead && !isFlaky });
  if (isFlaky && failure.failure.scope === 'test')
    session.bus.emit({ type: 'cause.flaky', tests: [failure.failure.test], causeId });
  return null;
}
