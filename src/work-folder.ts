import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { cp, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { lockFile } from './file-lock.js';
import { isInside, real } from './paths.js';
import type { Problem } from './problem.js';
import { err, ok, type Result, tryOr } from './result.js';
import {
  listState,
  makeStateFolder,
  readStateText,
  removeState,
  stateFolder,
  writeState,
} from './state-folder.js';
import { hashContent } from './workspace/file-state.js';

/**
 * What watches a project, such as its dev server, must not see what self-heal writes while the suite runs. A run works in a folder of the user's
 * caches, laid out like a project of its own, and its files are moved into the project at its end. The folder is found by the project's path and a
 * token in its `.self-heal`, since projects in containers have the same path, and used only if nobody else can write there.
 */
const prefix = 'self-heal-run-';

/** How long a run that nobody moved into its project is kept, in milliseconds. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Returns the name by which a project is known in folders that projects share. */
export function keyOf(project: string): string {
  return hashContent(Buffer.from(`${project}\0${readToken(project)}`)).slice(0, 12);
}

/** Returns the project's token; empty if no run has given it one. */
function readToken(project: string): string {
  const token = readStateText(stateFolder(project, 'work.key')).trim();
  return /^[\da-f]{32}$/.test(token) ? token : '';
}

function renewToken(project: string): void {
  writeState(stateFolder(project, 'work.key'), `${randomBytes(16).toString('hex')}\n`);
}

/** Returns the folders for caches. A relative path in XDG_CACHE_HOME is to be ignored (XDG Base Directory Specification). */
export function listCacheFolders(): string[] {
  const named = process.env['XDG_CACHE_HOME'] ?? '';
  return [path.isAbsolute(named) ? named : path.join(homedir(), '.cache'), tmpdir()];
}

/** Returns those of them that can be written, and are outside of a root: first those on its own file system. */
export function listUsableCaches(root: string): string[] {
  const isOutside = (cache: string) => !isInside(real(root), cache) && !isInside(root, cache);
  const outside = listCacheFolders()
    .filter(isOutside)
    .flatMap((cache) =>
      tryOr([], () => {
        mkdirSync(cache, { recursive: true });
        accessSync(cache, constants.W_OK);
        return [realpathSync(cache)];
      }),
    )
    .filter(isOutside);
  const { dev } = statSync(root);
  const isNear = (cache: string) => statSync(cache).dev === dev;
  return [...outside.filter(isNear), ...outside.filter((cache) => !isNear(cache))];
}

/** Creates the work folder of a project in the first of these caches where that is possible, and holds it. */
export async function makeWorkFolder(
  project: string,
  caches: readonly string[],
): Promise<Result<string, Problem>> {
  if (readToken(project) === '') renewToken(project);
  const reasons: string[] = [];
  for (const cache of caches) {
    await removeOld(cache);
    // A process that lives has the first one if this project is a copy of another, with its token.
    for (let tries = 0; tries < 2; tries += 1) {
      const folder = path.join(cache, `${prefix}${keyOf(real(project))}`);
      tryOr(undefined, () => mkdirSync(folder, { mode: 0o700 }));
      const why = explainNotPrivate(folder);
      if (why !== null) {
        reasons.push(`${folder} ${why}`);
        break;
      }
      if (await lockFolder(folder)) return ok(folder);
      renewToken(project);
    }
  }
  return err({
    kind: 'folder-not-writable',
    message: `no folder for caches can hold the files of a run: ${reasons.join('; ') || listCacheFolders().join(', ')}`,
    remedy:
      reasons.length > 0
        ? 'Remove it, or name another folder for caches in XDG_CACHE_HOME.'
        : 'Name a folder in XDG_CACHE_HOME that you can write to, outside of the project.',
  });
}

/** Makes sure that what is in the work folders of a project is its own, and of no process that lives; holds them. */
export async function claimWorkFolders(project: string): Promise<void> {
  for (const folder of listWorkFolders(project)) if (!(await lockFolder(folder))) return renewToken(project);
}

/** The locks of the work folders that this process uses. */
const locks = new Map<string, Disposable>();

/** Locks a work folder until it is removed or this process ends; returns false if another process has it, here or in another container. */
async function lockFolder(folder: string): Promise<boolean> {
  if (locks.has(folder)) return true;
  const file = path.join(folder, 'lock');
  // Its last holder may remove it in between.
  for (let tries = 0; tries < 3; tries += 1) {
    tryOr(undefined, () => mkdirSync(folder, { mode: 0o700 }));
    const lock = await lockFile(file).catch((error: unknown) => {
      if (existsSync(folder)) throw error;
    });
    if (lock === null) return false;
    if (lock && existsSync(file)) {
      locks.set(folder, lock);
      return true;
    }
    lock?.[Symbol.dispose]();
  }
  return false;
}

/** Ends the use of a work folder by this process. */
export function releaseWorkFolder(folder: string): void {
  locks.get(folder)?.[Symbol.dispose]();
  locks.delete(folder);
}

async function removeOld(cache: string): Promise<void> {
  const names = readdirSync(cache).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => path.join(cache, name))) {
    if (explainNotPrivate(folder) !== null) continue;
    const usedAt = lstatSync(stateFolder(folder, 'runs'), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - usedAt <= KEPT_MS) continue;
    // The date of a run that lives may only look old.
    if (locks.has(folder) || !(await lockFolder(folder))) continue;
    await rm(folder, { recursive: true, force: true });
    releaseWorkFolder(folder);
  }
}

/** Returns why this is no folder of this user that no other can write into; null if it is. Windows keeps a user's folders from others by itself. */
function explainNotPrivate(folder: string): string | null {
  const info = lstatSync(folder, { throwIfNoEntry: false });
  if (!info) return 'cannot be created';
  if (!info.isDirectory()) return 'is not a folder';
  if (process.getuid === undefined) return null;
  if (info.uid !== process.getuid()) return 'belongs to another user';
  return (info.mode & 0o077) === 0 ? null : 'is open to other users';
}

function listWorkFolders(project: string): string[] {
  if (readToken(project) === '') return [];
  const name = `${prefix}${keyOf(real(project))}`;
  return listCacheFolders()
    .map((cache) => path.join(real(cache), name))
    .filter((folder) => explainNotPrivate(folder) === null);
}

/** Returns the names of the runs in a project's work folders, with their folders: the run in progress, and what is still to be moved. */
export function listRunsAtWork(project: string): Map<string, string> {
  const entries = listWorkFolders(project).flatMap((folder) => {
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

/** A reader sees all of it or nothing. What a killed process has left of its copy is removed. */
async function copyWhole(from: string, to: string): Promise<void> {
  for (const name of await readdir(path.dirname(to))) {
    const [, pid] = /^(.+)\.(\d+)\.tmp$/.exec(name)?.slice(1) ?? [];
    if (pid !== undefined && name.startsWith(`${path.basename(to)}.`) && !isAlive(Number(pid)))
      await removeState(path.join(path.dirname(to), name));
  }
  const part = `${to}.${process.pid}.tmp`;
  try {
    await cp(from, part, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    await rename(part, to);
  } catch (error) {
    await removeState(part);
    throw error;
  }
}

function isAlive(pid: number): boolean {
  return tryOr(false, () => process.kill(pid, 0));
}

/** Removes the work folder that a run has left, unless another run is there, or another process has it. */
export async function removeWorkFolder(folder: string): Promise<void> {
  if (!existsSync(folder) || !(await lockFolder(folder).catch(() => false))) return;
  const removeIfEmpty = async (part: string) => rmdir(part).catch(() => undefined);
  for (const part of ['runs', 'changes']) await removeIfEmpty(stateFolder(folder, part));
  await removeIfEmpty(stateFolder(folder));
  if (existsSync(stateFolder(folder))) return;
  await rm(path.join(folder, 'lock'), { force: true });
  releaseWorkFolder(folder);
  await removeIfEmpty(folder);
}
