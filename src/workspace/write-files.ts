import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { listOf } from '../model/shape.js';
import type { Contents } from './change.js';
import { type FileState, isSame, stateOf, stateOrNull, obstacleBefore } from './file-state.js';
import { isInside } from '../paths.js';
import { safePath } from './safe-path.js';
import { tryOr } from '../result.js';

/** The planned state of one path, which is written only if it currently holds one of the known states. */
export const plannedFileShape = z.strictObject({
  path: safePath,
  known: listOf(stateOrNull),
  goal: stateOrNull,
});
export type PlannedFile = z.infer<typeof plannedFileShape>;

/** What was written, and what was left alone because it holds something else. */
export interface Written {
  readonly written: readonly string[];
  readonly leftAlone: readonly string[];
}

/**
 * Brings paths to their goals, each in one atomic step, so that a kill leaves every file in one of its known states. A path that holds anything
 * else, or is reached through a link, is left alone. `folders` were created for the change; they are removed when they are empty.
 */
export async function writeFiles(
  root: string,
  { files, folders }: { files: readonly PlannedFile[]; folders: readonly string[] },
  contents: Contents,
): Promise<Written> {
  const written: string[] = [];
  const leftAlone: string[] = [];
  // Everything is loaded first: if a part is missing, nothing is written.
  const hashes = new Set(files.flatMap(({ goal }) => goal?.hash ?? []));
  const found = new Map(
    await Promise.all([...hashes].map(async (hash) => [hash, await contents.get(hash)] as const)),
  );
  const write = (some: readonly PlannedFile[]) => {
    for (const file of some) {
      const done = writeOne(root, file, (file.goal && found.get(file.goal.hash)) ?? null);
      if (done !== 'there-already') (done === 'written' ? written : leftAlone).push(file.path);
    }
  };
  // Removals come first and make room, for a file in the place of a folder or the other way round.
  write(files.filter(({ goal }) => goal === null));
  const needed = new Set(files.flatMap(({ path, goal }) => (goal === null ? [] : parentsOf(path))));
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    if (needed.has(folder) || obstacleBefore(root, folder) !== 'folders') continue;
    // One that is not empty, or already gone, is not ours any more.
    tryOr(undefined, () => rmdirSync(path.join(root, folder)));
  }
  write(files.filter(({ goal }) => goal !== null));
  return { written, leftAlone };
}

/** Returns the folders that paths need and that do not exist yet. */
export function missingFolders(root: string, files: readonly string[]): string[] {
  return [...new Set(files.flatMap(parentsOf))].filter((folder) => stateOf(root, folder) !== 'other');
}

function parentsOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** Synchronous from the last check to the write, so that nobody can edit the file in between. */
function writeOne(
  root: string,
  { path: file, goal, known }: PlannedFile,
  content: Buffer | null,
): 'written' | 'left-alone' | 'there-already' {
  const place = path.join(root, file);
  const temporary = path.join(path.dirname(place), `.${path.basename(place)}.self-heal`);
  const mayWrite = (now: ReturnType<typeof stateOf>) =>
    now !== 'other' && known.some((one) => isSame(one, now));
  if (obstacleBefore(root, file) === 'link') return 'left-alone';
  const first = stateOf(root, file);
  // A kill may have left it behind.
  removeFile(temporary);
  if (first !== 'other' && isSame(first, goal)) return 'there-already';
  if (first === 'other' || !mayWrite(first)) return 'left-alone';
  if (goal?.kind === 'link' && content && leadsOut(root, file, content)) return 'left-alone';
  if (goal && content) {
    if (!makeFolder(path.dirname(place))) return 'left-alone';
    const before = known.find((one) => isSame(one, first)) ?? null;
    // If somebody changed the mode meanwhile, theirs is kept.
    const mode = first && before && first.mode !== before.mode ? first.mode : goal.mode;
    stage(temporary, { content, kind: goal.kind, mode, place });
  }
  if (!mayWrite(stateOf(root, file))) {
    rmSync(temporary, { force: true });
    return 'left-alone';
  }
  if (goal) renameSync(temporary, place);
  else rmSync(place, { force: true });
  return 'written';
}

function removeFile(place: string): void {
  try {
    rmSync(place, { force: true });
  } catch (error) {
    // A file is in the place of the folder, so the path does not exist.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
  }
}

/** Whether a link would lead out of the root, where whoever follows it would write. */
function leadsOut(root: string, file: string, content: Buffer): boolean {
  const target = path.resolve(path.dirname(path.join(root, file)), content.toString());
  return !isInside(root, target);
}

/** Returns false if a file is in the way. */
function makeFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOTDIR') return false;
    throw error;
  }
}

interface Staged {
  content: Buffer;
  kind: FileState['kind'];
  mode: number;
  /** Its final path. */
  place: string;
}

function stage(temporary: string, { content, kind, mode, place }: Staged): void {
  if (kind === 'link') return symlinkSync(content.toString(), temporary);
  const descriptor = openSync(temporary, 'wx', 0o600);
  try {
    for (let at = 0; at < content.length;) at += writeSync(descriptor, content, at);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  chmodSync(temporary, mode);
  keepOwner(temporary, place);
}

function keepOwner(temporary: string, place: string): void {
  const before = lstatSync(place, { throwIfNoEntry: false });
  const mine = lstatSync(temporary);
  if (!before || (before.uid === mine.uid && before.gid === mine.gid)) return;
  // Only root can change the owner of a file.
  tryOr(undefined, () => chownSync(temporary, before.uid, before.gid));
}
