import path from 'node:path';
import { git, gitBytes } from '../../git.js';
import { type Contents, safePath } from '../../workspace/change.js';
import { contentOf, type FileEdit, type FileState, hashOf, stateOf } from '../../workspace/file-state.js';
import type { Workspace } from '../../workspace/workspace.js';

/**
 * How the project here differs from its commit, so that a worker begins with the same: the fixes that were kept, and what else was changed in
 * tracked files. Files that nobody added to the repository, downloaded artifacts say, stay here.
 */
export async function keptSoFar(
  { root, edited }: Pick<Workspace, 'root' | 'edited'>,
  contents: Contents,
): Promise<FileEdit[]> {
  const changed = await git(root, ['diff', '--name-only', '--no-renames', '--relative', '-z', 'HEAD']);
  const files = new Set([...(changed ?? '').split('\0'), ...edited()]);
  const edits: FileEdit[] = [];
  for (const file of files) {
    const now = safePath.safeParse(file).success ? stateOf(root, file) : 'other';
    if (now === 'other') continue;
    if (now) await contents.put(contentOf(path.join(root, file), now.kind));
    const old = await gitBytes(root, ['cat-file', 'blob', `HEAD:${file}`]).catch(() => null);
    if (old) await contents.put(old);
    if (old && now && hashOf(old) === now.hash) continue;
    edits.push({ path: file, before: old && stateOfCommitted(old, now), after: now });
  }
  return edits;
}

/** Git knows of permissions only who may execute; here that counts as it is now. */
function stateOfCommitted(content: Uint8Array, now: FileState | null): FileState {
  return { kind: now?.kind ?? 'file', hash: hashOf(content), mode: now?.mode ?? 0o644 };
}
