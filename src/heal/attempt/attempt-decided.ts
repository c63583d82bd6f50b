import { type Attempt, isKept } from '../../core/attempt.js';
import type { Session } from '../session.js';

interface OfCause {
  readonly causeId: string;
  /** In the store; null where that did not take it. */
  readonly id: string | null;
  readonly attempt: Attempt;
}

/** The end of an attempt, here or on another machine: a green one is decided by its proof alone, every other one now. */
export async function attemptTried(session: Session, tried: OfCause): Promise<void> {
  const { causeId, attempt } = tried;
  const { n, agent, change, judged } = attempt;
  if (judged === 'green') session.bus.emit({ type: 'attempt.green', causeId, attempt: n, agent, change });
  else await attemptDecided(session, tried);
}

/** The last of an attempt: it is counted, its change stays or is out, and only then is it told. */
export async function attemptDecided(
  { store, workspace, bus }: Session,
  { causeId, id, attempt }: OfCause,
): Promise<void> {
  await store.attemptFinished(id, attempt);
  if (isKept(attempt) && attempt.change !== null) await workspace.decided([attempt.change]);
  bus.emit({ type: 'attempt.judged', causeId, attempt });
}
