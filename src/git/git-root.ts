import { existsSync } from 'node:fs';
import path from 'node:path';

/** Returns the folder that contains `.git`, which in a worktree is a file; null outside a repository. */
export function gitRootOf(folder: string): string | null {
  const isRoot = (one: string) => existsSync(path.join(one, '.git'));
  return isRoot(folder) ? folder : projectAbove(folder, isRoot);
}

/** Returns the nearest folder above this one for which `isMeant` returns true, or null. */
export function projectAbove(folder: string, isMeant: (folder: string) => boolean): string | null {
  const parent = path.dirname(folder);
  if (parent === folder) return null;
  return isMeant(parent) ? parent : projectAbove(parent, isMeant);
}
