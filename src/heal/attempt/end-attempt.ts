import { type Attempt, isKept } from '../../core/attempt.js';
import type { Session } from '../session.js';

interface OfCause {
  readonly causeId: string;
  /** Id of the attempt in the store; null if the store could not be written. */
  readonly id: string | null;
  readonly attempt: Attempt;
}

/**
 * Handles the end of an attempt. A green one is decided by its proof, and so is one that led to another
 * error: by the proof of the fix for that one (HN-1). Any other one is decided immediately.
 */
export async function attemptTried(session: Session, tried: OfCause): Promise<void> {
  const { causeId, attempt } = tried;
  if (isKept(attempt)) session.bus.emit({ type: 'attempt.held', causeId, attempt });
  else await attemptDecided(session, tried);
}

/** Finishes an attempt: it is stored first, then its change is marked as decided if it is kept, and only then is it announced. */
export async function attemptDecided(
  { store, workspace, bus }: Session,
  { causeId, id, attempt }: OfCause,
): Promise<void> {
  await store.attemptFinished(id, attempt);
  if (isKept(attempt) && attempt.change !== null) await workspace.decided([attempt.change]);
  bus.emit({ type: 'attempt.judged', causeId, attempt });
}

/** Reverts changes for good; returns the ids of changes that were built on them and had to be reverted with them. */
export async function revertChanges(
  { workspace, bus }: Pick<Session, 'workspace' | 'bus'>,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { leftAlone, lost } = await workspace.revert(ids);
  if (leftAlone.length > 0) {
    const message = `These files were not reverted, because they changed again after the agent: ${leftAlone.join(', ')}`;
    bus.emit({ type: 'run.warning', message });
  }
  return lost;
}
