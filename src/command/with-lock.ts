import { printMessage } from '../outputs/streams.js';
import type { Problem } from '../problem.js';
import { hasStateFile, hasStateFolder, stateFolder } from '../state-folder.js';
import { listKilledRuns } from '../run/run-journal.js';
import type { ProjectLock } from '../run/project-lock.js';
import { listRunsAtWork } from '../work-folder.js';

/** The project to lock, and the command to lock it for. */
interface LockedWork {
  readonly cwd: string;
  readonly command: string;
  readonly wait: boolean;
}

/** Runs work that changes a project while holding its lock, so that no other self-heal process does (HN-2). First cleans up after killed runs. */
export async function withLock(
  { cwd, command, wait }: LockedWork,
  work: (lock: ProjectLock) => Promise<number | Problem>,
): Promise<number | Problem> {
  const { lockProject } = await import('../run/project-lock.js');
  const lock = await lockProject(cwd, { command, wait, onWait: printMessage });
  if (!lock.ok) return lock.error;
  using projectLock = lock.value;
  return (await recoverProject(cwd)) ?? (await work(projectLock));
}

/** Like `withLock`, but without creating a folder just for the lock: if no run has created one, there is nothing to protect. */
export async function withLockIfNeeded(
  locked: LockedWork,
  work: (lock: ProjectLock | null) => Promise<number | Problem>,
): Promise<number | Problem> {
  return hasStateFolder(locked.cwd) ? withLock(locked, work) : work(null);
}

/** Cleans up after killed runs of a project and reports it on standard error; returns the problem that prevented it, or null. */
export async function recoverProject(project: string): Promise<Problem | null> {
  const hasJournal = hasStateFile(stateFolder(project, 'journal.json'));
  if (!hasJournal && listRunsAtWork(project).size === 0 && (await listKilledRuns(project)).length === 0)
    return null;
  // Loaded on demand, because usually there is nothing to recover.
  const { recoverKilledRuns } = await import('../run/recover.js');
  const recovered = await recoverKilledRuns(project);
  if (!recovered.ok) return recovered.error;
  if (recovered.value.length > 0) printMessage(recovered.value.join('\n'));
  return null;
}
