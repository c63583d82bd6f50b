import { say } from '../outputs/streams.js';
import type { Problem } from '../problem.js';
import { hasState, stateFolder } from '../state-folder.js';
import { killedRuns } from './run-journal.js';

/** Cleans up after killed runs of a project and reports it on standard error; returns the problem that prevented it, or null. */
export async function recover(project: string): Promise<Problem | null> {
  // Usually there is nothing to do, so the recovery code is loaded only when needed.
  const isOpen = hasState(stateFolder(project, 'journal.json'));
  if (!isOpen && (await killedRuns(project)).length === 0) return null;
  const { recoverKilledRuns } = await import('./recover.js');
  const recovered = await recoverKilledRuns(project);
  if (!recovered.ok) return recovered.error;
  if (recovered.value.length > 0) say(recovered.value.join('\n'));
  return null;
}
