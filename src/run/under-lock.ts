import { say } from '../outputs/streams.js';
import type { Problem } from '../problem.js';
import { hasStateFolder } from '../state-folder.js';
import type { ProjectLock } from './project-lock.js';

/** Which project to lock, and for which command. */
interface LockedWork {
  readonly cwd: string;
  readonly command: string;
  readonly wait: boolean;
}

/** Runs work that changes a project while holding its lock, so that no other self-heal process does the same (HN-2). */
export async function underLock(
  { cwd, command, wait }: LockedWork,
  work: (lock: ProjectLock) => Promise<number | Problem>,
): Promise<number | Problem> {
  const { lockProject } = await import('./project-lock.js');
  const lock = await lockProject(cwd, { command, wait, onWait: say });
  if (!lock.ok) return lock.error;
  using held = lock.value;
  return await work(held);
}

/** Like `underLock`, for work on earlier runs: if there were none, it does not create a folder just to lock it. */
export async function underLockOfRuns(
  locked: LockedWork,
  work: (lock: ProjectLock | null) => Promise<number | Problem>,
): Promise<number | Problem> {
  return hasStateFolder(locked.cwd) ? underLock(locked, work) : work(null);
}
