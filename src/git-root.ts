import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectAbove } from './project-above.js';

/** Returns the folder that contains `.git`, which in a worktree is a file; null outside a repository. */
export function gitRootOf(folder: string): string | null {
  const isRoot = (one: string) => existsSync(path.join(one, '.git'));
  return isRoot(folder) ? folder : projectAbove(folder, isRoot);
}

/** Whether a folder is the root of a repository or below it; null outside a repository. */
export function placeInGit(folder: string): 'top' | 'below' | null {
  const root = gitRootOf(folder);
  return root === null ? null : root === folder ? 'top' : 'below';
}
