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
import { isSame, parentsOf, stateOf, stateOrNull, obstacleBefore } from './file-state.js';
import { isInside } from '../paths.js';
import { safePath } from './safe-path.js';
import { tryOr } from '../result.js';

/** The planned state of one path, which is written only if it currently holds one of the known states. */
export const plannedFileShape = z.strictObject({
  path: safePath,
  known: listOf(stateOrNull),
  goal: stateOrNull,
});
export type FilePlan = z.infer<typeof plannedFileShape>;

/** The paths that were written, and those that were left alone because somebody else has changed them. */
export interface WriteResult {
  readonly written: readonly string[];
  readonly leftAlone: readonly string[];
}

/**
 * Brings paths to their goals, each in one atomic step, so that a kill leaves every file in one of its known states. A path that holds anything
 * else, or is reached through a link, is left alone. `folders` were created for the change; they are removed when they are empty.
 */
export async function writeFiles(
  root: string,
  { files, folders }: { files: readonly FilePlan[]; folders: readonly string[] },
  contents: Contents,
): Promise<WriteResult> {
  const written: string[] = [];
  const leftAlone: string[] = [];
  // Everything is loaded first: if a part is missing, nothing is written.
  const hashes = new Set(files.flatMap(({ goal }) => goal?.hash ?? []));
  const loaded = new Map(
    await Promise.all([...hashes].map(async (hash) => [hash, await contents.get(hash)] as const)),
  );
  const write = (batch: readonly FilePlan[]) => {
    for (const file of batch) {
      const result = writeFile(root, file, (file.goal && loaded.get(file.goal.hash)) ?? null);
      if (result !== 'unchanged') (result === 'written' ? written : leftAlone).push(file.path);
    }
  };
  // Removals come first, because a file may replace a folder, or a folder a file.
  write(files.filter(({ goal }) => goal === null));
  const needed = new Set(files.flatMap(({ path, goal }) => (goal === null ? [] : parentsOf(path))));
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    if (needed.has(folder) || obstacleBefore(root, folder) !== 'folders') continue;
    // A folder that is not empty has files of somebody else.
    tryOr(undefined, () => rmdirSync(path.join(root, folder)));
  }
  write(files.filter(({ goal }) => goal !== null));
  return { written, leftAlone };
}

/** Returns the folders that paths need and that do not exist yet. */
export function missingFolders(root: string, files: readonly string[]): string[] {
  return [...new Set(files.flatMap(parentsOf))].filter((folder) => stateOf(root, folder) !== 'other');
}

/** Synchronous from the last check to the write, so that nobody can edit the file in between. */
function writeFile(
  root: string,
  { path: file, goal, known }: FilePlan,
  content: Buffer | null,
): 'written' | 'left-alone' | 'unchanged' {
  const target = path.join(root, file);
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.self-heal`);
  const mayWrite = (now: ReturnType<typeof stateOf>) =>
    now !== 'other' && known.some((state) => isSame(state, now));
  if (obstacleBefore(root, file) === 'link') return 'left-alone';
  const first = stateOf(root, file);
  // A kill may have left it behind.
  removeFile(temporary);
  if (first !== 'other' && isSame(first, goal)) return 'unchanged';
  if (first === 'other' || !mayWrite(first)) return 'left-alone';
  if (goal?.kind === 'link' && content && leadsOut(root, file, content)) return 'left-alone';
  if (goal && content) {
    if (!makeFolder(path.dirname(target))) return 'left-alone';
    const before = known.find((state) => isSame(state, first)) ?? null;
    // A mode that somebody changed meanwhile is kept.
    const mode = first && before && first.mode !== before.mode ? first.mode : goal.mode;
    if (goal.kind === 'link') symlinkSync(content.toString(), temporary);
    else writeTemporary(temporary, content, { mode, ownerFrom: target });
  }
  if (!mayWrite(stateOf(root, file))) {
    rmSync(temporary, { force: true });
    return 'left-alone';
  }
  if (goal) renameSync(temporary, target);
  else rmSync(target, { force: true });
  return 'written';
}

function removeFile(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch (error) {
    // The path does not exist if a part of it is a file.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
  }
}

/** Whether a link would lead out of the root, where a program that follows it would write. */
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

function writeTemporary(
  temporary: string,
  content: Buffer,
  { mode, ownerFrom }: { readonly mode: number; readonly ownerFrom: string },
): void {
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
  const before = lstatSync(ownerFrom, { throwIfNoEntry: false });
  // Only root can change the owner of a file.
  if (before) tryOr(undefined, () => chownSync(temporary, before.uid, before.gid));
}
