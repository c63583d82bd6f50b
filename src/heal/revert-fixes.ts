import type { AttemptEnd } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import { isHealed } from '../model/verdict.js';
import type { RegressionResult } from '../event.js';
import {
  listCauseChanges,
  endCause,
  findHeldAttempt,
  listKeptAttempts,
  type Progress,
  listRevealedCauses,
  isUnproven,
  findCauseState,
  getCurrentVerdict,
} from './progress.js';
import { recordDecidedAttempt, revertChanges } from './attempt/trial.js';
import { suiteKey } from './observations.js';
import { announceVerdicts } from './announce-tests.js';
import { storedSignature } from './stored-signature.js';

/** Reverts fixes that broke tests; `tests` lists these by cause. Returns the tests that each fix broke. */
export async function revertFixesThatBroke(
  progress: Progress,
  tests: ReadonlyMap<string, readonly string[]>,
): Promise<RegressionResult['broke']> {
  const causes = [...tests.keys()].flatMap((id) => progress.causes.get(id) ?? []);
  await revertFixes(progress, listChangesWithRevealed(progress, causes));
  for (const cause of causes)
    await rejectFix(progress, cause, explainBroken(progress, tests.get(cause.id) ?? []));
  return [...tests].map(([causeId, ids]) => ({ causeId, tests: [...ids] }));
}

function explainBroken({ session }: Progress, ids: readonly string[]): string {
  if (ids.includes(suiteKey)) return 'its fix broke the suite itself and was reverted';
  const { tests } = session.bus.getRun();
  const names = ids.slice(0, 3).map((id) => tests.get(id)?.title.at(-1) ?? '');
  const brokenTests = ids.length === 1 ? 'another test' : `${ids.length} other tests`;
  return `its fix broke ${brokenTests} (${names.join(', ')}) and was reverted`;
}

/** Returns the ids of the changes of these causes, and of the causes that their fixes revealed. */
export function listChangesWithRevealed(progress: Progress, causes: readonly Cause[]): string[] {
  const all = causes.flatMap((cause) => [cause, ...listRevealedCauses(progress, cause)]);
  return [...new Set(all.flatMap((cause) => listCauseChanges(progress, cause)))];
}

/** Reverts fixes for good, and rejects fixes that were built on them and cannot be applied without them. */
export async function revertFixes(progress: Progress, changes: readonly string[]): Promise<void> {
  const revertedToo = await revertChanges(progress.session, changes);
  for (const cause of progress.causes.values()) {
    if (!listCauseChanges(progress, cause).some((id) => revertedToo.includes(id))) continue;
    const reason = 'its fix was built on one that was reverted, and was reverted with it';
    await rejectFix(progress, cause, reason);
  }
}

/**
 * Reverts fixes that only led to other errors, none of which was healed: a chain of attempts that does not end in a proven heal leaves no change
 * (HN-1). `refuted` has the ids of causes whose fix did not hold in the proof. Returns the ids of causes whose error such a fix had revealed.
 */
export async function revertDeadEnds(
  progress: Progress,
  refuted: ReadonlyMap<string, unknown> = new Map(),
): Promise<ReadonlySet<string>> {
  const isDeadEnd = (cause: Cause) =>
    getCurrentVerdict(progress, cause) === 'superseded' &&
    findHeldAttempt(progress, cause) !== null &&
    !leadsToHeal(progress, cause, refuted);
  const deadEnds = [...progress.causes.values()].filter(isDeadEnd);
  const vanished = new Set(
    deadEnds.flatMap((cause) => listRevealedCauses(progress, cause)).map(({ id }) => id),
  );
  if (deadEnds.length > 0)
    await revertFixes(
      progress,
      deadEnds.flatMap((cause) => listCauseChanges(progress, cause)),
    );
  for (const cause of deadEnds) {
    const { ended = null } = findCauseState(progress, cause) ?? {};
    if (ended === null || !findHeldAttempt(progress, cause)) continue;
    const reason = `${ended.reason}; that one was not healed, and the fix was reverted`;
    await decideHeldAttempt(progress, cause, { kind: 'taken-out', because: reason });
    await endCause(progress, cause, { verdict: 'superseded', reason });
  }
  return vanished;
}

/** True if, as far as known, a test is green with this fix and the fixes that followed it. */
function leadsToHeal(progress: Progress, cause: Cause, refuted: ReadonlyMap<string, unknown>): boolean {
  const later = listRevealedCauses(progress, cause);
  const ids = new Set([cause, ...later].map(({ id }) => id));
  const hasTestInProof = progress.proofTests.some(
    ({ causeId, ended, hasOwnCause }) =>
      ids.has(causeId) && !hasOwnCause && ended === null && !refuted.has(causeId),
  );
  const isProven = (other: Cause) =>
    isHealed(getCurrentVerdict(progress, other) ?? 'failed') && !isUnproven(progress, other);
  return hasTestInProof || later.some(isProven);
}

/** Decides the held attempt at a cause, if there is one: with its own end, or with the given one. */
export async function decideHeldAttempt(progress: Progress, cause: Cause, end?: AttemptEnd): Promise<void> {
  const held = findHeldAttempt(progress, cause);
  if (held === null) return;
  const id = progress.finishedWork.get(cause.id)?.trial?.id ?? null;
  await recordDecidedAttempt(progress.session, {
    cause,
    id,
    attempt: { ...held, end: end ?? held.end },
  });
}

/** Rejects a fix that healed its tests but was reverted for its side effects, which the reason of the cause names. */
async function rejectFix(progress: Progress, cause: Cause, reason: string): Promise<void> {
  const { session } = progress;
  const causeId = cause.id;
  const later = listRevealedCauses(progress, cause).filter(
    (other) => listKeptAttempts(progress, other).length > 0,
  );
  const end: AttemptEnd = { kind: 'taken-out', because: reason };
  await decideHeldAttempt(progress, cause, end);
  for (const attempt of listKeptAttempts(progress, cause))
    session.bus.emit({ type: 'attempt.judged', causeId, attempt: { ...attempt, end } });
  announceVerdicts(session, cause.members, { verdict: 'failed' });
  const others = progress.proofTests.filter((test) => test.causeId !== causeId);
  progress.proofTests.splice(0, Infinity, ...others);
  await endCause(progress, cause, { verdict: 'failed', reason });
  await session.store.recordRevert({
    runId: session.folder.runId,
    causeId,
    signature: storedSignature(cause.lead),
    reason,
  });
  for (const other of later) {
    await revertFixes(progress, listCauseChanges(progress, other));
    const after = 'the error it healed had been revealed by a fix that was reverted';
    await rejectFix(progress, other, after);
  }
}
