import { existsSync, lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { tryOr } from './result.js';
import { invisibleCharacters } from './visible-text.js';

/** The path from the folder `from` to `to` as reports, prompts and git write it: with slashes, on Windows too. */
export const relativePath = (from: string, to: string): string =>
  path.relative(from, to).replaceAll(path.sep, '/');

/** Whether a path is the folder itself or inside it. */
export function isInside(folder: string, file: string): boolean {
  const way = path.relative(folder, file);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

/** Returns a path relative to the folder, with slashes, or null if it is outside. The folder itself is ''. */
export function pathInside(folder: string, file: string): string | null {
  return isInside(folder, file) ? relativePath(folder, file) : null;
}

/**
 * Returns the name of a file or folder as any file system may read it, like git's core.protectHFS and core.protectNTFS. HFS+ ignores some characters,
 * some file systems ignore case or the composition of letters, and NTFS drops dots and spaces at the end, and everything after a colon.
 */
export function foldName(name: string): string {
  return name
    .replaceAll(invisibleCharacters, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[ .]+$/, '');
}

/** Returns a path with links resolved, or as it is if it does not exist. */
export function real(file: string): string {
  return tryOr(path.resolve(file), () => realpathSync(file));
}

/** Returns where a file is, or would be created, with the links on the way resolved. */
export function resolveFuturePath(file: string): string {
  const isThere = lstatSync(file, { throwIfNoEntry: false });
  // The target of a dangling link is unknown, and might be anywhere.
  if (isThere?.isSymbolicLink() && !existsSync(file)) return path.parse(file).root;
  return isThere ? realpathSync(file) : path.join(resolveFuturePath(path.dirname(file)), path.basename(file));
}
