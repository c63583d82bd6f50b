import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder that holds `.git`, which in a worktree is a file; null outside of repositories. */
export function gitRootOf(folder: string): string | null {
  if (existsSync(path.join(folder, '.git'))) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? null : gitRootOf(parent);
}
