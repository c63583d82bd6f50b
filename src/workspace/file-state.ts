import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { safePath } from './safe-path.js';

/** The state of one path: the SHA-256 of a file's bytes or a link's target, and the permission bits. */
const fileStateShape = z.strictObject({
  kind: z.enum(['file', 'link']),
  hash: z.string().regex(/^[\da-f]{64}$/),
  mode: z.int().min(0).max(0o777),
});
export type FileState = z.infer<typeof fileStateShape>;

/** Null if the path does not exist. */
export const stateOrNull = fileStateShape.nullable();

/** A change to one path, which is relative to the root, with `/`. */
export const fileEditShape = z.strictObject({ path: safePath, before: stateOrNull, after: stateOrNull });
export type FileEdit = z.infer<typeof fileEditShape>;

/** Returns the SHA-256 of bytes, in hex. */
export function hashContent(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Returns the content of a file, or the target of a link, as bytes. */
export function readContent(file: string, kind: FileState['kind']): Buffer {
  return kind === 'file' ? readFileSync(file) : Buffer.from(readlinkSync(file));
}

/**
 * Returns the current state of a path: null if it does not exist, and `other` for a folder, a socket, and anything behind a link. Synchronous, because
 * nothing may happen between a check and the write that relies on it.
 */
export function readFileState(root: string, file: string): FileState | null | 'other' {
  const absolute = path.join(root, file);
  const obstacle = findObstacle(root, file);
  if (obstacle !== 'folders') return obstacle === 'link' ? 'other' : null;
  const info = lstatSync(absolute, { throwIfNoEntry: false });
  if (!info) return null;
  const kind = getFileKind(info);
  if (kind === null) return 'other';
  return { kind, hash: hashContent(readContent(absolute, kind)), mode: info.mode & 0o777 };
}

/** Returns the kind of a regular file or link; null for anything else. */
export function getFileKind(info: Pick<Stats, 'isFile' | 'isSymbolicLink'>): FileState['kind'] | null {
  if (info.isFile()) return 'file';
  return info.isSymbolicLink() ? 'link' : null;
}

/** True if two states are the same. Of the permission bits, only the executable bit counts. */
export function isSameState(a: FileState | null, b: FileState | null): boolean {
  if (a === null || b === null) return a === b;
  return a.kind === b.kind && a.hash === b.hash && isExecutable(a) === isExecutable(b);
}

/** True if the owner may execute the file. Git records no other permission. */
export function isExecutable({ kind, mode }: FileState): boolean {
  return kind === 'file' && (mode & 0o100) !== 0;
}

/** Returns the folders above a path, the topmost first. */
export function listParents(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Returns the first link or file among the parents of a path; `folders` if all that exist are folders. */
export function findObstacle(root: string, file: string): 'folders' | 'link' | 'file' {
  for (const parent of listParents(file)) {
    const info = lstatSync(path.join(root, parent), { throwIfNoEntry: false });
    if (!info) return 'folders';
    if (!info.isDirectory()) return info.isSymbolicLink() ? 'link' : 'file';
  }
  return 'folders';
}
