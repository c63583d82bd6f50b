import { git } from '../git.js';

/** HEAD of a project's repository, null where there is none, and whether anything differs from it. */
export async function checkedOut(cwd: string): Promise<{ commit: string | null; isDirty: boolean }> {
  const [head, open] = await Promise.all([
    git(cwd, ['rev-parse', 'HEAD']),
    git(cwd, ['status', '--porcelain', '--untracked-files=normal']),
  ]);
  return { commit: head?.trim() ?? null, isDirty: open !== '' };
}
