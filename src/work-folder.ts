import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { cp, rename, rmdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { isInside, real } from './paths.js';
import { tryOr } from './result.js';
import { listState, makeStateFolder, removeState, stateFolder } from './state-folder.js';
import { hashOf } from './workspace/file-state.js';

/**
 * What watches a project, such as its dev server, must not see what self-heal writes while the suite runs. A run works in a folder of the user's
 * caches, laid out like a project of its own, and its files are moved into the project at its end. Nothing in the project names the folder: it
 * is found by the project's path, and used only if nobody else can write there.
 */
const prefix = 'self-heal-run-';

/** How long a run that nobody moved into its project is kept, in milliseconds. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Returns the name by which a project is known in folders that projects share. */
export function keyOf(project: string): string {
  return hashOf(Buffer.from(project)).slice(0, 12);
}

/** Returns the folders for caches. */
export function cacheFolders(): string[] {
  return [process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), tmpdir()];
}

/** Returns those of them that can be written, and are outside of a root: first those on its own file system. */
export function cachesFor(root: string): string[] {
  const writable = cacheFolders().flatMap((cache) =>
    tryOr([], () => {
      mkdirSync(cache, { recursive: true });
      accessSync(cache, constants.W_OK);
      return [realpathSync(cache)];
    }),
  );
  const { dev } = statSync(root);
  const isNear = (cache: string) => statSync(cache).dev === dev;
  const outside = writable.filter((cache) => !isInside(root, cache));
  return [...outside.filter(isNear), ...outside.filter((cache) => !isNear(cache))];
}

/** Creates the work folder of a project in the first of these caches where that is possible; throws if it is in none. */
export function makeWorkFolder(project: string, caches: readonly string[]): string {
  for (const cache of caches) {
    removeOld(cache);
    const folder = path.join(cache, `${prefix}${keyOf(real(project))}`);
    tryOr(undefined, () => mkdirSync(folder, { mode: 0o700 }));
    if (isOurs(folder)) return folder;
  }
  throw new Error(`none of these can hold a folder of yours alone: ${cacheFolders().join(', ')}`);
}

function removeOld(cache: string): void {
  const names = readdirSync(cache).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => path.join(cache, name))) {
    const usedAt = lstatSync(stateFolder(folder, 'runs'), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (isOurs(folder) && Date.now() - usedAt > KEPT_MS) rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether this is a folder of this user that no other can write into. Windows keeps a user's folders from others by itself. */
function isOurs(folder: string): boolean {
  const info = lstatSync(folder, { throwIfNoEntry: false });
  if (!info?.isDirectory()) return false;
  return process.getuid === undefined || (info.uid === process.getuid() && (info.mode & 0o077) === 0);
}

/** Returns the names of the runs in a project's work folders, with their folders: the run in progress, and what is still to be moved. */
export function runsAtWork(project: string): Map<string, string> {
  const key = keyOf(real(project));
  const folders = cacheFolders().map((cache) => path.join(real(cache), `${prefix}${key}`));
  const entries = folders.filter(isOurs).flatMap((folder) => {
    const runs = stateFolder(folder, 'runs');
    return listState(runs).map((name) => [name, path.join(runs, name)] as const);
  });
  return new Map(entries);
}

/**
 * Moves a folder, with what is missing in one that exists already. Rejects if that is impossible, for example because the disk is full. Between
 * file systems it copies, and leaves the folder to be removed. Another process may be doing the same.
 */
export async function moveOrCopy(from: string, to: string): Promise<void> {
  const at = (statOf: string) => lstatSync(statOf, { throwIfNoEntry: false });
  if (!at(from)) return;
  if (at(from)?.isDirectory() && at(to)?.isDirectory()) {
    for (const name of listState(from)) await moveOrCopy(path.join(from, name), path.join(to, name));
    return;
  }
  makeStateFolder(path.dirname(to));
  try {
    await rename(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EXDEV') await copyWhole(from, to);
    else if (code !== 'ENOENT' || at(from)) throw error;
  }
}

/** A reader sees all of it or nothing. */
async function copyWhole(from: string, to: string): Promise<void> {
  const part = `${to}.${process.pid}.tmp`;
  try {
    await cp(from, part, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    await rename(part, to);
  } catch (error) {
    await removeState(part);
    throw error;
  }
}

/** Removes the work folder that a run has left, unless another run is there. */
export async function removeWorkFolder(folder: string): Promise<void> {
  const places = [stateFolder(folder, 'runs'), stateFolder(folder, 'changes'), stateFolder(folder), folder];
  for (const folder of places) await rmdir(folder).catch(() => undefined);
}
