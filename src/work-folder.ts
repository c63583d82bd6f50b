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
import { isInside, resolveLinks } from './paths.js';
import type { Problem } from './problem.js';
import { err, ok, type Result, tryOr } from './result.js';
import {
  listStateFolder,
  makeStateFolder,
  readStateText,
  removeStatePath,
  stateFolder,
  writeStateFile,
} from './state-folder.js';
import { hashContent } from './workspace/file-state.js';

/**
 * A dev server that watches the project must not see the files that self-heal writes while the suite runs. So a run works in a folder of the user's
 * caches, laid out like a project, and moves its files into the project at the end. The name of the folder depends on the project's path and on a
 * token in its `.self-heal`, since projects in containers share a path. It is used only if nobody else can write there.
 */
const prefix = 'self-heal-run-';

/** How long to keep a run that was never moved into its project, in milliseconds. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Returns the name of a project in folders that several projects share. */
export function createProjectKey(project: string): string {
  return hashContent(Buffer.from(`${project}\0${readToken(project)}`)).slice(0, 12);
}

/** Returns the project's token; empty if no run has given it one. */
function readToken(project: string): string {
  const token = readStateText(stateFolder(project, 'work.key')).trim();
  return /^[\da-f]{32}$/.test(token) ? token : '';
}

function renewToken(project: string): void {
  writeStateFile(stateFolder(project, 'work.key'), `${randomBytes(16).toString('hex')}\n`);
}

/** Returns the user's cache folders. Ignores a relative path in XDG_CACHE_HOME, as the XDG Base Directory Specification requires. */
export function listCacheFolders(): string[] {
  const named = process.env['XDG_CACHE_HOME'] ?? '';
  return [path.isAbsolute(named) ? named : path.join(homedir(), '.cache'), tmpdir()];
}

/** Returns the writable cache folders outside a root, those on the root's file system first. */
export function listUsableCaches(root: string): string[] {
  const isOutside = (cache: string) => !isInside(resolveLinks(root), cache) && !isInside(root, cache);
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
  const isSameDevice = (cache: string) => statSync(cache).dev === dev;
  return [...outside.filter(isSameDevice), ...outside.filter((cache) => !isSameDevice(cache))];
}

/** Creates and locks the work folder of a project in the first of these caches where that is possible. */
export async function makeWorkFolder(
  project: string,
  caches: readonly string[],
): Promise<Result<string, Problem>> {
  if (readToken(project) === '') renewToken(project);
  const reasons: string[] = [];
  for (const cache of caches) {
    await removeOldFolders(cache);
    // If this project is a copy of another and has its token, another process may hold the first folder; the second try uses a new token.
    for (let tries = 0; tries < 2; tries += 1) {
      const folder = path.join(cache, `${prefix}${createProjectKey(resolveLinks(project))}`);
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
    message: `no cache folder can hold the files of a run: ${reasons.join('; ') || listCacheFolders().join(', ')}`,
    remedy:
      reasons.length > 0
        ? 'Remove that folder, or set XDG_CACHE_HOME to another one.'
        : 'Set XDG_CACHE_HOME to a folder that you can write to, outside the project.',
  });
}

/** Locks the work folders of a project. If a running process holds one, the project is a copy of another, and gets a new token instead. */
export async function claimWorkFolders(project: string): Promise<void> {
  for (const folder of listWorkFolders(project)) if (!(await lockFolder(folder))) return renewToken(project);
}

/** The locks of the work folders that this process uses. */
const locks = new Map<string, Disposable>();

/** Locks a work folder until it is removed or this process ends; returns false if another process holds it, here or in another container. */
async function lockFolder(folder: string): Promise<boolean> {
  if (locks.has(folder)) return true;
  const file = path.join(folder, 'lock');
  // The previous holder may remove the folder in between.
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

/** Releases this process's lock on a work folder. */
export function releaseWorkFolder(folder: string): void {
  locks.get(folder)?.[Symbol.dispose]();
  locks.delete(folder);
}

async function removeOldFolders(cache: string): Promise<void> {
  const names = readdirSync(cache).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => path.join(cache, name))) {
    if (explainNotPrivate(folder) !== null) continue;
    const usedAt = lstatSync(stateFolder(folder, 'runs'), { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - usedAt <= KEPT_MS) continue;
    // A running process may hold a folder that only looks old.
    if (locks.has(folder) || !(await lockFolder(folder))) continue;
    await rm(folder, { recursive: true, force: true });
    releaseWorkFolder(folder);
  }
}

/** Explains why a folder is not private to this user; null if it is. Windows protects a user's folders by itself. */
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
  const name = `${prefix}${createProjectKey(resolveLinks(project))}`;
  return listCacheFolders()
    .map((cache) => path.join(resolveLinks(cache), name))
    .filter((folder) => explainNotPrivate(folder) === null);
}

/** Returns the runs in a project's work folders, as folders by name: the run in progress, and runs that still have to be moved. */
export function listRunsAtWork(project: string): Map<string, string> {
  const entries = listWorkFolders(project).flatMap((folder) => {
    const runs = stateFolder(folder, 'runs');
    return listStateFolder(runs).map((name) => [name, path.join(runs, name)] as const);
  });
  return new Map(entries);
}

/**
 * Moves a folder; if the target exists, moves what is missing there. Between file systems, copies instead and leaves the source in place. Another
 * process may do the same at the same time. Rejects if that fails, for example because the disk is full.
 */
export async function moveOrCopy(from: string, to: string): Promise<void> {
  const readStats = (file: string) => lstatSync(file, { throwIfNoEntry: false });
  if (!readStats(from)) return;
  if (readStats(from)?.isDirectory() && readStats(to)?.isDirectory()) {
    for (const name of listStateFolder(from)) await moveOrCopy(path.join(from, name), path.join(to, name));
    return;
  }
  makeStateFolder(path.dirname(to));
  try {
    await rename(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EXDEV') await copyAtomically(from, to);
    else if (code !== 'ENOENT' || readStats(from)) throw error;
  }
}

/** Copies so that a reader sees all or nothing. Removes partial copies that killed processes left. */
async function copyAtomically(from: string, to: string): Promise<void> {
  for (const name of await readdir(path.dirname(to))) {
    const [, pid] = /^(.+)\.(\d+)\.tmp$/.exec(name)?.slice(1) ?? [];
    if (pid !== undefined && name.startsWith(`${path.basename(to)}.`) && !isAlive(Number(pid)))
      await removeStatePath(path.join(path.dirname(to), name));
  }
  const part = `${to}.${process.pid}.tmp`;
  try {
    await cp(from, part, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    await rename(part, to);
  } catch (error) {
    await removeStatePath(part);
    throw error;
  }
}

function isAlive(pid: number): boolean {
  return tryOr(false, () => process.kill(pid, 0));
}

/** Removes a work folder, unless it contains another run or another process holds it. */
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
