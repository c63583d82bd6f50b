import { existsSync, lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { tryOr } from './result.js';
import { invisibleCharacters } from './visible-text.js';

/** Returns the path from the folder `from` to `to`, with slashes on Windows too, as reports, prompts and git write it. */
export const relativePath = (from: string, to: string): string =>
  path.relative(from, to).replaceAll(path.sep, '/');

/** True if a path is the folder itself or inside it. */
export function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/** Returns a path relative to the folder, with slashes, or null if it is outside. The folder itself is ''. */
export function pathInside(folder: string, file: string): string | null {
  return isInside(folder, file) ? relativePath(folder, file) : null;
}

/**
 * Folds names that some file system treats as the same file, like git's core.protectHFS and core.protectNTFS. HFS+ ignores some characters, some
 * file systems ignore case or the composition of letters, and NTFS drops dots and spaces at the end, and everything after a colon.
 */
export function foldName(name: string): string {
  return name
    .replaceAll(invisibleCharacters, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[ .]+$/, '');
}

/** Resolves the links in a path. If it does not exist, only makes it absolute. */
export function resolveLinks(file: string): string {
  return tryOr(path.resolve(file), () => realpathSync(file));
}

/** Returns where a file is, or would be created, with links resolved. */
export function resolveFuturePath(file: string): string {
  const info = lstatSync(file, { throwIfNoEntry: false });
  // A dangling link might lead anywhere.
  if (info?.isSymbolicLink() && !existsSync(file)) return path.parse(file).root;
  return info ? realpathSync(file) : path.join(resolveFuturePath(path.dirname(file)), path.basename(file));
}
