import type { Attempt } from '../../core/attempt.js';
import type { FileEdit } from '../../workspace/file-state.js';
import { type Deployment, keepPatch } from './deploy.js';
import type { Session } from '../session.js';

/** A fix that no agent made in a copy here, as one that an agent did: a change with its patch, not judged and not in the project. */
export async function deployEdits(
  session: Session,
  attempt: Attempt,
  edits: readonly FileEdit[],
): Promise<Deployment> {
  const id = session.spending.nextAttempt();
  const work = session.workspace.edit(String(id), edits);
  const kept = await keepPatch(session, work.change, await session.folder.attempt(id));
  return { attempt: { ...attempt, ...kept, change: work.change.id }, work };
}
