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
