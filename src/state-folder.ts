import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { parseJson } from './parse-json.js';
import { git, findGitRoot } from './workspace/git.js';
import type { Problem } from './problem.js';
import { tryOr } from './result.js';

/**
 * All access to a project's `.self-heal` goes through this module. The folder may have come with the project, from somebody else, so
 * self-heal follows no link in it and uses nothing that it reads there as a path.
 */
const folderName = '.self-heal';

/** Returns the path of something in a project's `.self-heal`. */
export function stateFolder(project: string, ...parts: readonly string[]): string {
  return path.join(project, folderName, ...parts);
}

/** Thrown if `.self-heal` or something in it is not of the kind that self-heal creates there. */
export class StateRefused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

function createRefused(file: string, reason: string): StateRefused {
  return new StateRefused({
    kind: 'state-refused',
    message: `${file} is ${reason}; self-heal uses only files and folders that it created itself`,
    remedy: 'Find out where it comes from, then move it away. self-heal creates it again when needed.',
  });
}

/**
 * Returns a problem if a project's `.self-heal` must not be used, or null. Files in it that git tracks may come from somebody else who wants to
 * deceive: events that make `undo` write files, or a store that quarantines red tests. Without git, nothing shows where a file comes from.
 */
export async function findStateProblem(project: string): Promise<Problem | null> {
  try {
    const info = readStats(stateFolder(project));
    if (!info) return null;
    assertKind('folder', stateFolder(project), info);
  } catch (error) {
    if (error instanceof StateRefused) return error.problem;
    throw error;
  }
  const [first, ...others] = await findTracked(project, [folderName]);
  if (first === undefined) return null;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return {
    kind: 'state-refused',
    message: `git tracks ${first}${more}, so anybody may have written the data in ${folderName}`,
    remedy: `Remove it from the repository with git rm -r --cached ${folderName}, then delete the folder or move it away.`,
  };
}

/** Returns the files that git tracks under these names in a folder; none if there is no repository or git cannot read it. */
export async function findTracked(folder: string, names: readonly string[]): Promise<string[]> {
  if (findGitRoot(path.resolve(folder)) === null) return [];
  // A file system may ignore case.
  const listed = await git(folder, [
    'ls-files',
    '-z',
    '--',
    ...names.map((name) => `:(icase,literal)${name}`),
  ]);
  return (listed ?? '').split('\0').filter((file) => file !== '');
}

export function hasStateFolder(project: string): boolean {
  return readStats(stateFolder(project)) !== undefined;
}

/** Creates a project's `.self-heal` if it is missing, with a .gitignore that keeps it out of `git status`. */
export function openStateFolder(project: string): void {
  const rules = '*\n';
  const file = stateFolder(project, '.gitignore');
  if (readStateText(file) !== rules) writeStateFile(file, rules);
}

/** Creates a folder and its parents, and returns it. */
export function makeStateFolder(folder: string): string {
  for (const ancestor of listFoldersDownTo(folder)) {
    try {
      mkdirSync(ancestor);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    assertKind('folder', ancestor, lstatSync(ancestor));
  }
  return folder;
}

/** Creates a folder that must not exist yet, so that nothing in it is older. */
export function makeNewStateFolder(folder: string): void {
  makeStateFolder(path.dirname(folder));
  mkdirSync(folder);
}

/** Returns the names in a folder; none if it does not exist. */
export function listStateFolder(folder: string): string[] {
  const info = readStats(folder);
  if (!info) return [];
  assertKind('folder', folder, info);
  return readdirSync(folder);
}

export function hasStateFile(file: string): boolean {
  return readFileStats(file) !== undefined;
}

/** Returns the stats of a file; undefined if it does not exist. */
function readFileStats(file: string): Stats | undefined {
  const info = readStats(file);
  if (info) assertKind('file', file, info);
  return info;
}

/** Returns the size of a file in bytes; 0 if it does not exist. */
export function measureStateFile(file: string): number {
  return readFileStats(file)?.size ?? 0;
}

/** Larger than any file of a run of a hundred thousand tests. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Returns the bytes of a file; null if it does not exist. */
export function readStateFile(file: string): Buffer | null {
  const handle = openIfPresent(file);
  if (handle === null) return null;
  try {
    // Unlike a file, a string has a maximum length.
    if (fstatSync(handle).size > MAX_BYTES) throw createRefused(file, 'too large');
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Opens a file to read it; null if it does not exist. Checking first would not help, since another process may delete the file in between. */
function openIfPresent(file: string): number | null {
  try {
    return openStateFile(file, constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Returns the text of a file, empty if it does not exist. */
export function readStateText(file: string): string {
  return readStateFile(file)?.toString() ?? '';
}

/** Returns the content of a JSON file; null if the file does not exist, or has another shape. */
export function readStateJson<T>(file: string, shape: z.ZodType<T>): T | null {
  return shape.safeParse(parseJson(readStateText(file))).data ?? null;
}

/** Opens a file, or creates it in an existing folder if the flags say so; returns its descriptor. */
export function openStateFile(file: string, flags: number): number {
  hasStateFile(file);
  // Windows has neither flag. Opening a named pipe that nobody writes to would block.
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
  const handle = openSync(file, flags | O_NOFOLLOW | O_NONBLOCK, 0o666);
  const info = fstatSync(handle);
  if (info.isFile()) return handle;
  closeSync(handle);
  throw createRefused(file, 'not a file');
}

/**
 * Writes a file atomically, creating its folders: after a kill or on a full disk, the file has the old or the new content, never a part. With
 * `durable`, the content is flushed to the disk, and only the owner may read it, since it may contain a secret. Synchronous, because writing
 * thousands of small files through the thread pool costs several times as much processor time.
 */
export function writeStateFile(file: string, content: Uint8Array | string, { durable = false } = {}): void {
  makeStateFolder(path.dirname(file));
  hasStateFile(file);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    // A killed process may have left this file, or somebody may have put a link here.
    rmSync(temporary, { force: true });
    const mode = durable ? 0o600 : 0o666;
    writeFileSync(temporary, content, { flag: 'wx', mode, flush: durable });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes the file, folder or link at a path; a link's target stays. */
export async function removeStatePath(file: string): Promise<void> {
  readStats(file);
  await rm(file, { recursive: true, force: true, maxRetries: 3 });
}

/** The end of a journal that names a super-journal, which self-heal's database never has: https://sqlite.org/fileformat.html#the_rollback_journal */
const superJournal = Buffer.from('d9d505f920a163d7', 'hex');

/**
 * Checks the files of a database before SQLite opens them by name. Rejects a journal that names a super-journal, because SQLite would delete that
 * file, wherever it is.
 */
export function checkDatabase(file: string): void {
  for (const databaseFile of listDatabaseFiles(file)) hasStateFile(databaseFile);
  const journal = `${file}-journal`;
  const end = readStateFile(journal)?.subarray(-superJournal.length);
  if (end?.equals(superJournal)) throw createRefused(journal, 'not a self-heal journal');
}

/** Returns the files of an SQLite database. */
export function listDatabaseFiles(file: string): string[] {
  return ['', '-wal', '-shm', '-journal'].map((ending) => `${file}${ending}`);
}

/** Returns the stats of a path, after checking the folders above it; undefined if it does not exist. */
function readStats(file: string): Stats | undefined {
  for (const folder of listFoldersDownTo(path.dirname(file))) {
    const info = lstatSync(folder, { throwIfNoEntry: false });
    if (!info) return undefined;
    assertKind('folder', folder, info);
  }
  return lstatSync(file, { throwIfNoEntry: false });
}

/** Returns `.self-heal` and the folders in it down to this one. Folders above belong to the user and may be links. */
function listFoldersDownTo(folder: string): string[] {
  const names = folder.split(path.sep);
  const top = names.lastIndexOf(folderName);
  if (top === -1) return [];
  return names.slice(top).map((_, at) => names.slice(0, top + at + 1).join(path.sep));
}

function assertKind(kind: 'file' | 'folder', file: string, info: Stats): void {
  if (info.isSymbolicLink()) throw createRefused(file, 'a link');
  if (kind === 'file' ? !info.isFile() : !info.isDirectory()) throw createRefused(file, `not a ${kind}`);
}

const NEWLINE = 0x0a;
const MAX_AT_ONCE = 64 * 1024 * 1024;

/**
 * Follows a file that another process appends to. Each call returns the complete lines since the last call, without line endings, or none if there is
 * no file. Synchronous, which for a few lines takes a tenth of the processor time. Splits the bytes at line endings before decoding them, so that no
 * character is split.
 */
export function createLineFollower(currentPath: () => string): () => string[] {
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  return () => {
    const fd = tryOr(null, () => openStateFile(currentPath(), constants.O_RDONLY));
    if (fd === null) return [];
    try {
      const read = Buffer.alloc(Math.min(MAX_AT_ONCE, Math.max(0, fstatSync(fd).size - offset)));
      const bytesRead = readSync(fd, read, 0, read.length, offset);
      offset += bytesRead;
      const bytes = Buffer.concat([rest, read.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = bytes.subarray(end);
      return end === 0 ? [] : bytes.toString('utf8', 0, end - 1).split('\n');
    } finally {
      closeSync(fd);
    }
  };
}
