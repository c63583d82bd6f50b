import type { AttemptEnd } from '../model/attempt.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { failureKey } from '../model/failure.js';
import type { CauseEnd } from '../model/verdict.js';
import { ask, askAboutEdits } from './ask.js';
import { isEdited } from './apply-result.js';
import type { CauseWork } from './cause-work.js';
import {
  attemptsAt,
  changesOf,
  endCause,
  heldAttempt,
  isUnproven,
  type Progress,
  type ProofTest,
  causeStateOf,
  stepsOf,
  testProofs,
  verdictOf,
} from './progress.js';
import type { ByKey } from './apply-result.js';
import { decideLast, revertFixes } from './revert-fixes.js';
import { announceVerdicts } from './tell-tests.js';

/** Why a fix is not proven. */
export type Refutation = Extract<AttemptEnd, { kind: 'rejected' | 'still-failing' | 'flaky' | 'offered' }>;

/** The result of a proof, apart from the steps of its tests. */
export interface ProofResult {
  /** Causes whose tests are green with a fix that nothing could show to be needed; by id, with the reason. */
  readonly unproven: ReadonlyMap<string, string>;
  /** Causes whose fix was refuted, by id. */
  readonly refuted: ReadonlyMap<string, Refutation>;
  /** Ids of causes whose error was there only with a fix that is reverted now. */
  readonly gone: ReadonlySet<string>;
  /** Newly red tests of no known cause, by failure key. */
  readonly others: ReadonlyMap<string, DiagnosedFailure>;
}

/** What remains to be done after a proof. */
export interface Remainder {
  /** Causes whose fix did not hold, with the failed attempt. */
  readonly again: readonly CauseWork[];
  /** Tests that turned out to be red, each of which gets a cause of its own. */
  readonly failures: ByKey;
}

/** After an interrupt: reverts the fixes that are not proven, and keeps their patches. */
export async function abandonProof(progress: Progress): Promise<void> {
  const isOpen = (cause: Cause) => isUnproven(progress, cause);
  const isHeld = (cause: Cause) => heldAttempt(progress, cause) !== null;
  const causes = [...progress.causes.values()];
  const held = causes.filter(isHeld);
  if (held.length > 0)
    await revertFixes(
      progress,
      held.flatMap((cause) => changesOf(progress, cause)),
    );
  for (const cause of causes.filter(isOpen)) {
    await decideLast(progress, cause, { kind: 'interrupted', because: 'interrupted' });
    const reason = 'interrupted before its fix was proven';
    await endCause(progress, cause, { verdict: 'interrupted', reason });
  }
  progress.proofTests.length = 0;
}

/** Records and announces what the proof showed for each cause and each test. */
export async function applyProof(
  progress: Progress,
  { refuted, gone, others, unproven }: ProofResult,
): Promise<Remainder> {
  const again: CauseWork[] = [];
  for (const cause of [...progress.causes.values()].filter((other) => isUnproven(progress, other))) {
    const { id } = cause;
    const tests = progress.proofTests.filter(({ causeId }) => causeId === id);
    const outcome = { tests, how: refuted.get(id), isGone: gone.has(id), unproven: unproven.get(id) };
    const goesOn = await applyToCause(progress, cause, outcome);
    if (goesOn) again.push(goesOn);
  }
  const failures = new Map(others);
  for (const test of progress.proofTests) {
    const remaining = test.isOther
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

/** Returns the cause if it has to be healed again. */
async function applyToCause(
  progress: Progress,
  cause: Cause,
  { tests, how, isGone, unproven }: CauseProof,
): Promise<CauseWork | null> {
  const { session } = progress;
  const before = causeStateOf(progress, cause)?.ended ?? null;
  const tried = progress.tried.get(cause.id);
  const holds = tests.some(({ ended }) => ended === null);
  const leading =
    tests.find(({ ended, isLead }) => isLead && ended === null) ??
    tests.find(({ ended }) => ended === null) ??
    tests[0];
  const several = tests.length > 1 ? { testProofs: testProofs(progress, tests) } : {};
  const proof = { proof: leading ? stepsOf(progress, leading) : [], ...several };
  const isHealed = (reason: string): CauseEnd =>
    unproven === undefined
      ? { verdict: 'healed', reason }
      : { verdict: 'green-once', reason: unproven, unproven: true };
  const byOthers = progress.greenWithOthers.get(cause.id);
  if (byOthers !== undefined && holds) {
    await endCause(progress, cause, { ...isHealed(byOthers), ...proof });
  } else if (byOthers !== undefined) {
    progress.greenWithOthers.delete(cause.id);
    // It stays as it ended before another fix seemed to heal it.
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
    await decideLast(progress, cause, how);
    const reason = how.because;
    if (how.kind === 'flaky' && tried && isEdited(session, cause)) await askAbout(progress, tried, null);
    else if (how.kind === 'flaky') await endCause(progress, cause, { verdict: 'flaky', reason });
    else if (how.kind === 'offered' && !how.hides && tried) await askAbout(progress, tried, reason);
    else if (isGone) {
      announceVerdicts(session, cause.members, { verdict: 'failed' });
      await endCause(progress, cause, { verdict: 'failed', reason });
    } else if (tried) {
      tried.attempts = attemptsAt(progress, cause);
      return tried;
    }
  } else if (verdictOf(progress, cause) === 'superseded') {
    // Dead ends are out by now, so a proven heal rests on this fix.
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

/** Asks a person about a proven fix, which is out of the project by now, or without a question, about edits of its tests by others. */
async function askAbout(progress: Progress, work: CauseWork, question: string | null): Promise<void> {
  const { session } = progress;
  work.attempts = attemptsAt(progress, work.cause);
  announceVerdicts(session, work.cause.members, { verdict: 'escalated' });
  const end = question === null ? askAboutEdits(session, work) : ask(session, work, question);
  await endCause(progress, work.cause, await end);
}

/** Decides the final status of a test; returns its failure if that needs a cause of its own. */
function applyToTest(
  progress: Progress,
  { failure, ended, isLead, causeId }: ProofTest,
  { how, isAsked }: { readonly how: Refutation | undefined; readonly isAsked: boolean },
): DiagnosedFailure | null {
  const { session } = progress;
  // Its cause is going to be healed again.
  if (how && how.kind !== 'flaky') return null;
  if (ended === 'red' || ended === 'unsteady') return session.observations.latestFailure(failure) ?? failure;
  const isFlaky = ended === 'flaky' || how?.kind === 'flaky';
  const verdict = isFlaky ? 'flaky' : isAsked ? 'green-once' : 'healed';
  announceVerdicts(session, [failure], { verdict, sharedFix: !isLead && !isFlaky });
  if (isFlaky && failure.failure.scope === 'test')
    session.bus.emit({ type: 'cause.flaky', tests: [failure.failure.test], causeId });
  return null;
}
