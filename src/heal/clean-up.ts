import { sweep } from '../process/end-processes.js';
import { dropAllUnmasked } from '../run/mask-suite-folder.js';
import { say } from '../outputs/streams.js';
import type { Opened } from './open-run.js';

/** Leaves no process of a run that is over (AG-10), no copy of the project, and no file that may hold secrets (EV-9). */
export async function cleanUp({
  folder,
  workspace,
  running,
}: Pick<Opened, 'folder' | 'workspace' | 'running'>): Promise<void> {
  await sweep({ runId: folder.runId });
  await workspace.close();
  await dropAllUnmasked(folder.dir);
  await running.ended();
}

/**
 * After an error, such as a full disk: leaves no fix in the project that is not decided. Where no new journal can be written, the one that a
 * kill would need says the same, and has the room reserved; if that fails, too, the user is told, and the next command does it.
 */
export async function cleanUpAfterError({
  folder,
  workspace,
  cwd,
}: Pick<Opened, 'folder' | 'workspace' | 'cwd'>): Promise<void> {
  // What still runs would take the room.
  await sweep({ runId: folder.runId }).catch(() => undefined);
  await dropAllUnmasked(folder.dir).catch(() => undefined);
  const finish = async () => (await import('../run/recover.js')).finishJournal(cwd);
  await workspace.close().catch(async () => {
    const finished = await finish().catch(() => null);
    if (finished && !finished.ok) say(`${finished.error.message}\n  → ${finished.error.remedy}`);
  });
}
