import { type Attempt, isKept } from '../../core/attempt.js';
import type { Session } from '../session.js';

/** The last of an attempt: it is counted, its change stays or is out, and only then is it told. */
export async function attemptDecided(
  { store, workspace, bus }: Session,
  { causeId, id, attempt }: { causeId: string; id: string | null; attempt: Attempt },
): Promise<void> {
  await store.attemptFinished(id, attempt);
  if (isKept(attempt) && attempt.change !== null) await workspace.decided([attempt.change]);
  bus.emit({ type: 'attempt.judged', causeId, attempt });
}
