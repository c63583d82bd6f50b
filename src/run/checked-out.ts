import { git } from '../git/git.js';

/** Returns HEAD of a project's repository (null if there is none), and whether there are uncommitted changes. */
export async function checkedOut(cwd: string): Promise<{ commit: string | null; isDirty: boolean }> {
  // Comparing with the upstream branch could take long in a large repository.
  const how = ['--porcelain=v2', '--branch', '--no-ahead-behind', '--untracked-files=normal'];
  const status = await git(cwd, ['status', ...how]);
  const [, commit = null] = /^# branch\.oid ([\da-f]+)$/m.exec(status ?? '') ?? [];
  return { commit, isDirty: status === null || /^[^#]/m.test(status) };
}
