import { lstatSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Git } from './git.js';
import { placeOf, restoreModes } from './modes.js';

/** What a take-back did: files put back, and files left alone because somebody else changed them meanwhile. */
export interface TakenBack {
  readonly restored: readonly string[];
  readonly leftAlone: readonly string[];
}

/** Which way, and where. */
export interface TakeBack {
  readonly git: Git;
  readonly gitDir: string;
  readonly root: string;
  readonly before: string;
  readonly after: string;
  /** Paths relative to the root that are not touched. */
  readonly spare: readonly string[];
  /** Records the state as it is. */
  readonly now: () => Promise<string>;
}

/**
 * Puts back to `before` whatever changed between the two, unless it was changed again. Names are bytes, in Latin-1, within this file: those
 * of a file system need not be UTF-8.
 */
export async function takeBack(move: TakeBack): Promise<TakenBack> {
  const { git, before, after } = move;
  const changed = await changedPaths(git, before, after);
  if (changed.length === 0) return { restored: [], leftAlone: [] };
  const now = await move.now();
  const spared = move.spare.map((file) => Buffer.from(file).toString('latin1'));
  const touchedSince = new Set([...(await changedPaths(git, after, now)), ...spared]);
  const notBack = new Set(await changedPaths(git, before, now));
  const known = new Set(changed);
  const isInTheWay = obstructedBy([...touchedSince].filter((file) => !known.has(file)));
  const mine = changed.filter((file) => !touchedSince.has(file) && !isInTheWay(file));
  const moved = new Set(mine);
  const obstructed = await restore(move, mine);
  const isLeft = (file: string) => obstructed.has(file) || (!moved.has(file) && notBack.has(file));
  return {
    restored: mine.filter((file) => !obstructed.has(file)).map(shown),
    leftAlone: changed.filter(isLeft).map(shown),
  };
}

/** A file that somebody put where a folder is wanted, or below the name of a file. */
function obstructedBy(touched: readonly string[]): (file: string) => boolean {
  return (file) => touched.some((one) => one.startsWith(`${file}/`) || file.startsWith(`${one}/`));
}

/** Gives those that could not be written, since a folder with something in it has their name. */
async function restore(move: TakeBack, files: readonly string[]): Promise<Set<string>> {
  const { git, root, before } = move;
  if (files.length === 0) return new Set();
  const wanted = new Set(await pathsOf(git, before));
  const gone = files.filter((file) => !wanted.has(file));
  for (const file of gone) remove(root, file);
  const kept = files.filter((file) => wanted.has(file));
  const obstructed = new Set(kept.filter((file) => kindOf(root, file) === 'folder'));
  const written = kept.filter((file) => !obstructed.has(file));
  if (written.length === 0) return obstructed;
  await git.run(['read-tree', '-m', before]);
  const input = Buffer.from(written.map((file) => `${file}\0`).join(''), 'latin1');
  await git.bytes(['checkout-index', '--force', '--index', '-z', '--stdin'], { input });
  await restoreModes(move, before, written);
  return obstructed;
}

/** Removes a file, and the folders that it leaves empty. */
function remove(root: string, file: string): void {
  if (kindOf(root, file) === 'file') rmSync(placeOf(root, file), { force: true });
  for (let folder = path.posix.dirname(file); folder !== '.'; folder = path.posix.dirname(folder)) {
    try {
      rmdirSync(placeOf(root, folder));
    } catch {
      return;
    }
  }
}

/** A link is a file, wherever it leads; so is what lies behind a link: not there. */
function kindOf(root: string, file: string): 'file' | 'folder' | 'none' {
  const folders = file.split('/').slice(0, -1);
  const parents = folders.map((_, index) => folders.slice(0, index + 1).join('/'));
  if (parents.some((one) => lstat(root, one)?.isDirectory() !== true)) return 'none';
  const info = lstat(root, file);
  if (!info) return 'none';
  return info.isDirectory() ? 'folder' : 'file';
}

function lstat(root: string, file: string) {
  try {
    return lstatSync(placeOf(root, file));
  } catch {
    return null;
  }
}

async function changedPaths(git: Git, from: string, to: string): Promise<string[]> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to];
  return split(await git.bytes(args));
}

async function pathsOf(git: Git, checkpoint: string): Promise<string[]> {
  return split(await git.bytes(['ls-tree', '-r', '-z', '--name-only', checkpoint]));
}

function split(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString('latin1');
  return text.split('\0').filter((file) => file !== '');
}

/** As people see it: what is no UTF-8 shows as such. */
function shown(file: string): string {
  return Buffer.from(file, 'latin1').toString('utf8');
}
