import { existsSync } from 'node:fs';
import path from 'node:path';
import { say } from '../outputs/say.js';
import type { Problem } from '../problem.js';
import type { ProjectLock } from './project-lock.js';

/** Whose project is locked, and for what. */
interface LockedWork {
  readonly cwd: string;
  readonly command: string;
  readonly wait: boolean;
}

/** Does what changes a project while no other self-heal does (HN-2). */
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

/** As `underLock`, for what earlier runs left: where there were none it makes no folder to lock. */
export async function underLockOfRuns(
  locked: LockedWork,
  work: (lock: ProjectLock | null) => Promise<number | Problem>,
): Promise<number | Problem> {
  return existsSync(path.join(locked.cwd, '.self-heal')) ? underLock(locked, work) : work(null);
}
