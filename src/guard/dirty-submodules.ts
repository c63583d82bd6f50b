import type { Finding } from '../model/guard-findings.js';
import { gitDiff, splitAtNul } from '../workspace/git.js';
import { parseRawDiff } from '../workspace/git-trees.js';

/** Finds submodules with uncommitted changes to tracked files: tests may read them, and nothing compares them. */
export async function findDirtySubmodules(root: string): Promise<Finding[]> {
  const listSubmodules = async (ignored: string) => {
    const raw = await gitDiff(root, ['--raw', '-z', '--no-renames', `--ignore-submodules=${ignored}`, '--']);
    return parseRawDiff(splitAtNul(raw)).flatMap((change) => (change.kind === 'other' ? [change.path] : []));
  };
  const committed = new Set(await listSubmodules('dirty'));
  const dirty = (await listSubmodules('untracked')).filter((file) => !committed.has(file));
  const says = 'it has uncommitted changes, and changes in another repository cannot be compared';
  return dirty.map((file) => ({ rule: 'dirty-submodule', file, line: null, says }));
}
