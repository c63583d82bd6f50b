import path from 'node:path';
import { diff3Merge } from 'node-diff3';
import { z } from 'zod';
import { changeId, listOf } from '../model/shape.js';
import { hasStateFile, readStateFile, readStateJson, writeStateFile } from '../state-folder.js';
import {
  readContent,
  type FileEdit,
  fileEditShape,
  type FileState,
  hashContent,
  isSameState,
  readFileState,
} from './file-state.js';
import { safePath } from './safe-path.js';

/** An agent's change: each path with its state before and after. The contents are in the run's `ContentStore`. */
const changeShape = z.strictObject({
  id: changeId,
  /** Paths are relative to the root of the repository or workspace, see `findRoot`. */
  edits: listOf(fileEditShape),
  /** The folders created for the change. */
  folders: listOf(safePath),
});
export type Change = z.infer<typeof changeShape>;

/** The exact bytes of changed files, by SHA-256. */
export interface ContentStore {
  put(content: Uint8Array): Promise<string>;
  /** Rejects with `MissingContentError` if the bytes are missing or do not match the hash. */
  get(hash: string): Promise<Buffer>;
  /** Returns the path of the file with these bytes. */
  contentPath(hash: string): string;
}

/** Thrown if the stored contents of a change are missing or damaged. */
export class MissingContentError extends Error {}

/** Opens the store of changed files' contents. They may contain secrets, so it is outside the run's folder, which people share. */
export function openContentStore(runDir: string): ContentStore {
  const folder = path.join(changesFolder(runDir), 'contents');
  const contentPath = (hash: string) => path.join(folder, hash);
  return {
    contentPath,
    put: async (content) => {
      const hash = hashContent(content);
      const file = contentPath(hash);
      if (!hasStateFile(file)) writeStateFile(file, content, { durable: true });
      return hash;
    },
    get: async (hash) => {
      const content = readStateFile(contentPath(hash));
      if (content && hashContent(content) === hash) return content;
      throw new MissingContentError(`${contentPath(hash)} is ${content ? 'damaged' : 'gone'}`);
    },
  };
}

export async function storeChange(runDir: string, change: Change): Promise<void> {
  const text = `${JSON.stringify({ schemaVersion: 1, ...change })}\n`;
  writeStateFile(changeFile(runDir, change.id), text, { durable: true });
}

/** Reads a stored change; returns null if it is missing or invalid. */
export function readChange(runDir: string, id: string): Change | null {
  if (!/^\d+$/.test(id)) return null;
  const stored = changeShape.extend({ schemaVersion: z.literal(1) });
  return readStateJson(changeFile(runDir, id), stored);
}

function changeFile(runDir: string, id: string): string {
  return path.join(changesFolder(runDir), `${id}.json`);
}

/** Returns `.self-heal/changes/<run-id>` for `.self-heal/runs/<run-id>`. */
export function changesFolder(runDir: string): string {
  return path.join(path.dirname(path.dirname(runDir)), 'changes', path.basename(runDir));
}

/** The merged edits, and the files with conflicts. */
interface MergeResult {
  readonly edits: readonly FileEdit[];
  readonly conflicts: readonly string[];
}

/**
 * Merges edits onto the current files. If somebody has edited a file since the agent's copy was made, merges both edits line by line (diff3), or
 * reports a conflict.
 */
export async function mergeEdits(
  root: string,
  edits: readonly FileEdit[],
  contents: ContentStore,
): Promise<MergeResult> {
  const merged: FileEdit[] = [];
  const conflicts: string[] = [];
  for (const edit of edits) {
    const now = readFileState(root, edit.path);
    if (now !== 'other' && isSameState(now, edit.before)) merged.push({ ...edit, before: now });
    else if (now !== 'other' && isSameState(now, edit.after)) continue;
    else {
      const file = path.join(root, edit.path);
      const after = now === 'other' ? null : await mergeFile(file, { edit, now }, contents);
      if (after && now !== 'other') {
        await contents.put(readContent(file, 'file'));
        merged.push({ path: edit.path, before: now, after });
      } else conflicts.push(edit.path);
    }
  }
  return { edits: merged, conflicts };
}

/**
 * Merges an edit onto the current state of a file. Returns null if both sides changed the same lines, or if the file is binary or a link. Keeps a
 * mode that somebody has changed.
 */
export async function mergeFile(
  file: string,
  { edit, now }: { edit: Pick<FileEdit, 'before' | 'after'>; now: FileState | null },
  contents: ContentStore,
): Promise<FileState | null> {
  const { before, after } = edit;
  if (before?.kind !== 'file' || after?.kind !== 'file' || now?.kind !== 'file') return null;
  const theirs = readContent(file, 'file');
  const texts = [theirs, await contents.get(before.hash), await contents.get(after.hash)];
  if (texts.some((bytes) => bytes.includes(0))) return null;
  // Latin-1 keeps every byte. Each line keeps its line break, so it is one item.
  const [current = [], base = [], changed = []] = texts.map((bytes) =>
    bytes.toString('latin1').split(/(?<=\n)/),
  );
  const regions = diff3Merge(current, base, changed, { excludeFalseConflicts: true });
  if (regions.some((region) => region.conflict)) return null;
  const text = regions.flatMap((region) => region.ok ?? []).join('');
  const mode = now.mode === before.mode ? after.mode : now.mode;
  return { kind: 'file', mode, hash: await contents.put(Buffer.from(text, 'latin1')) };
}
