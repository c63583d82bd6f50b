import { git } from '../git.js';

/** Returns HEAD of a project's repository (null if there is none), and whether there are uncommitted changes. */
export async function checkedOut(cwd: string): Promise<{ commit: string | null; isDirty: boolean }> {
  const [head, open] = await Promise.all([
    git(cwd, ['rev-parse', 'HEAD']),
    git(cwd, ['status', '--porcelain', '--untracked-files=normal']),
  ]);
  return { commit: head?.trim() ?? null, isDirty: open !== '' };
}
