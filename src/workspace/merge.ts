import path from 'node:path';
import { diff3Merge } from 'node-diff3';
import type { Contents } from './change.js';
import { type FileEdit, type FileState, isSame, stateOf } from './file-state.js';
import { contentOf } from './file-state.js';

/** A change merged onto the current state of the project, and the files in which both sides changed the same lines. */
export interface Merged {
  readonly edits: readonly FileEdit[];
  readonly conflicts: readonly string[];
}

/**
 * Merges a change onto what the files hold now. If somebody has edited a file since the agent's copy was made, the two edits are merged line by
 * line (diff3), or conflict.
 */
export async function mergeOnto(
  root: string,
  edits: readonly FileEdit[],
  contents: Contents,
): Promise<Merged> {
  const merged: FileEdit[] = [];
  const conflicts: string[] = [];
  for (const edit of edits) {
    const now = stateOf(root, edit.path);
    if (now !== 'other' && isSame(now, edit.before)) merged.push({ ...edit, before: now });
    else if (now !== 'other' && isSame(now, edit.after)) continue;
    else {
      const place = path.join(root, edit.path);
      const after = now === 'other' ? null : await mergeFile(place, { edit, now }, contents);
      if (after && now !== 'other') {
        await contents.put(contentOf(place, 'file'));
        merged.push({ path: edit.path, before: now, after });
      } else conflicts.push(edit.path);
    }
  }
  return { edits: merged, conflicts };
}

/**
 * Returns what a file holds with an edit merged onto its current state, or null if both changed the same lines or it has none. If somebody changed
 * its mode meanwhile, theirs is kept.
 */
export async function mergeFile(
  place: string,
  { edit, now }: { edit: Pick<FileEdit, 'before' | 'after'>; now: FileState | null },
  contents: Contents,
): Promise<FileState | null> {
  const { before, after } = edit;
  if (before?.kind !== 'file' || after?.kind !== 'file' || now?.kind !== 'file') return null;
  const theirs = contentOf(place, 'file');
  const texts = [theirs, await contents.get(before.hash), await contents.get(after.hash)];
  if (texts.some((bytes) => bytes.includes(0))) return null;
  // Latin-1 loses no bytes. Each line keeps its line break, so that it is one item.
  const [a = [], o = [], b = []] = texts.map((bytes) => bytes.toString('latin1').split(/(?<=\n)/));
  const regions = diff3Merge(a, o, b, { excludeFalseConflicts: true });
  if (regions.some((region) => region.conflict)) return null;
  const text = regions.flatMap((region) => region.ok ?? []).join('');
  const mode = now.mode === before.mode ? after.mode : now.mode;
  return { kind: 'file', mode, hash: await contents.put(Buffer.from(text, 'latin1')) };
}
