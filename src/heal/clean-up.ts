import { sweep } from '../process/end-processes.js';
import { dropAllUnmasked } from '../run/mask-suite-folder.js';
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
 * kill would need says the same; if that fails, too, the next command does it. The watchdog ends the processes.
 */
export async function cleanUpAfterError({
  folder,
  workspace,
  cwd,
}: Pick<Opened, 'folder' | 'workspace' | 'cwd'>): Promise<void> {
  // What the last Playwright run left may hold secrets, and without it there is room again.
  await dropAllUnmasked(folder.dir).catch(() => undefined);
  const finish = async () => (await import('../run/recover.js')).finishJournal(cwd);
  await workspace.close().catch(() => finish().catch(() => undefined));
}
