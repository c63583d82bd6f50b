import { randomUUID } from 'node:crypto';
import { type Attempt, isKept } from '../../model/attempt.js';
import type { Cause } from '../../model/cause.js';
import type { AttemptStart } from '../../store/store.js';
import type { Session } from '../session.js';
import { rememberedAs } from '../remembered-as.js';

interface OfCause {
  readonly cause: Cause;
  /** Id of the attempt in the store; null for one that it does not have. */
  readonly id: string | null;
  readonly attempt: Attempt;
}

/** Stores that work on a cause has begun; returns the id of the attempt. */
export async function storeStart(
  { store, folder }: Pick<Session, 'store' | 'folder'>,
  { id: causeId, lead }: Cause,
  attempt: Pick<AttemptStart, 'n' | 'agent' | 'runner'>,
): Promise<string> {
  const id = randomUUID();
  const { diagnosis } = lead;
  const signature = rememberedAs(lead);
  const { category } = diagnosis;
  await store.attemptStarted({ id, runId: folder.runId, causeId, signature, category, ...attempt });
  return id;
}

/**
 * Handles the end of an attempt. A green one is decided by its proof, and so is one that led to another
 * error: by the proof of the fix for that one (HN-1). Any other one is decided immediately.
 */
export async function attemptTried(session: Session, tried: OfCause): Promise<void> {
  const { cause, attempt } = tried;
  if (!isKept(attempt)) return attemptDecided(session, tried);
  session.bus.emit({ type: 'attempt.held', causeId: cause.id, attempt });
  // From now on it is paid for, whatever becomes of this run (ME-8).
  await session.hooks.attemptEnded?.(cause, attempt, 'green-once');
}

/** Finishes an attempt: it is stored first, then its change is marked as decided if it is kept, and only then is it announced. */
export async function attemptDecided(
  { store, workspace, bus, hooks }: Session,
  { cause, id, attempt }: OfCause,
): Promise<void> {
  const causeId = cause.id;
  if (id !== null) await store.attemptFinished(id, attempt);
  if (isKept(attempt) && attempt.change !== null) await workspace.markDecided([attempt.change]);
  bus.emit({ type: 'attempt.judged', causeId, attempt });
  await hooks.attemptEnded?.(cause, attempt, 'proven');
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
