import { git } from '../git.js';

/** The commit that a project's files are those of: null where something is not committed, or there is no repository. */
export async function cleanCommit(cwd: string): Promise<string | null> {
  const [head, open] = await Promise.all([
    git(cwd, ['rev-parse', 'HEAD']),
    git(cwd, ['status', '--porcelain', '--untracked-files=normal']),
  ]);
  return head !== null && open === '' ? head.trim() : null;
}
