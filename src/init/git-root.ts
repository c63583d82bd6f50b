import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder that holds `.git`, which in a worktree is a file; null outside of repositories. */
export function gitRootOf(folder: string): string | null {
  if (existsSync(path.join(folder, '.git'))) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? null : gitRootOf(parent);
}

/** Whether a folder is the top of a repository or lies below it; null outside of repositories. */
export function placeInGit(folder: string): 'top' | 'below' | null {
  const root = gitRootOf(folder);
  return root === null ? null : root === folder ? 'top' : 'below';
}
