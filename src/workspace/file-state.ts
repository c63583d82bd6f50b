import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import path from 'node:path';

/** What one path holds: a file's bytes or a link's target, named by their SHA-256, with the permission bits. */
export interface FileState {
  readonly kind: 'file' | 'link';
  readonly hash: string;
  readonly mode: number;
}

/** One path that a change touches; null is "not there". */
export interface FileEdit {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
}

/** The SHA-256 of a content, in hex. */
export function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The content of a file, or the target of a link, as bytes. */
export function contentOf(place: string, kind: FileState['kind']): Buffer {
  return kind === 'file' ? readFileSync(place) : Buffer.from(readlinkSync(place));
}

/**
 * What a path holds now: null where there is nothing, and `other` for a folder, a socket, and whatever is reached through a link. Synchronous, so that a check and the write that rests on it are not apart.
 */
export function stateOf(root: string, file: string): FileState | null | 'other' {
  const place = path.join(root, file);
  const way = wayTo(root, file);
  if (way !== 'folders') return way === 'link' ? 'other' : null;
  const info = lstatSync(place, { throwIfNoEntry: false });
  if (!info) return null;
  const kind = kindOf(info);
  if (kind === null) return 'other';
  return { kind, hash: hashOf(contentOf(place, kind)), mode: info.mode & 0o777 };
}

/** A regular file or a link; null for everything else. */
export function kindOf(info: Pick<Stats, 'isFile' | 'isSymbolicLink'>): FileState['kind'] | null {
  if (info.isFile()) return 'file';
  return info.isSymbolicLink() ? 'link' : null;
}

/** Whether two states hold the same; permission bits are compared by who may execute alone. */
export function isSame(a: FileState | null, b: FileState | null): boolean {
  if (a === null || b === null) return a === b;
  return a.kind === b.kind && a.hash === b.hash && isExecutable(a) === isExecutable(b);
}

/** Whether its owner may execute it: all that a version control system knows of permissions. */
export function isExecutable({ kind, mode }: FileState): boolean {
  return kind === 'file' && (mode & 0o100) !== 0;
}

/** What stands on the way to a path: folders alone, a link, or a file, below which there is nothing. */
function wayTo(root: string, file: string): 'folders' | 'link' | 'file' {
  let folder = root;
  for (const name of file.split('/').slice(0, -1)) {
    folder = path.join(folder, name);
    const info = lstatSync(folder, { throwIfNoEntry: false });
    if (!info) return 'folders';
    if (!info.isDirectory()) return info.isSymbolicLink() ? 'link' : 'file';
  }
  return 'folders';
}
