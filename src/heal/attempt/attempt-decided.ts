import { type Attempt, becauseOf, isKept } from '../../core/attempt.js';
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
  const { n, agent, change } = attempt;
  if (isKept(attempt))
    session.bus.emit({
      type: 'attempt.held',
      causeId,
      attempt: n,
      agent,
      change,
      error: becauseOf(attempt),
    });
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
