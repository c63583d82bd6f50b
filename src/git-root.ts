import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectAbove } from './project-above.js';

/** The folder that holds `.git`, which in a worktree is a file; null outside of repositories. */
export function gitRootOf(folder: string): string | null {
  const isRoot = (one: string) => existsSync(path.join(one, '.git'));
  return isRoot(folder) ? folder : projectAbove(folder, isRoot);
}

/** Whether a folder is the top of a repository or lies below it; null outside of repositories. */
export function placeInGit(folder: string): 'top' | 'below' | null {
  const root = gitRootOf(folder);
  return root === null ? null : root === folder ? 'top' : 'below';
}
