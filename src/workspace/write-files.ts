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
import type { ContentStore } from './change.js';
import { isSameState, listParents, readFileState, stateOrNull, findObstacle } from './file-state.js';
import { isInside } from '../paths.js';
import { safePath } from './safe-path.js';
import { tryOr } from '../result.js';

/** The planned state of one path. It is written only if the path is currently in one of the known states. */
export const plannedFileShape = z.strictObject({
  path: safePath,
  known: listOf(stateOrNull),
  goal: stateOrNull,
});
export type FilePlan = z.infer<typeof plannedFileShape>;

/** The written paths, and the paths that were skipped because somebody else has changed them. */
export interface WriteResult {
  readonly written: readonly string[];
  readonly leftAlone: readonly string[];
}

/**
 * Brings paths to their goals, each in one atomic step, so a kill leaves every file in one of its known states. Skips a path in any other state, or
 * behind a link. `folders` were created for the change; empty ones are removed.
 */
export async function writeFiles(
  root: string,
  { files, folders }: { files: readonly FilePlan[]; folders: readonly string[] },
  contents: ContentStore,
): Promise<WriteResult> {
  const written: string[] = [];
  const leftAlone: string[] = [];
  // Loads all contents first, because nothing may be written if one is missing.
  const hashes = new Set(files.flatMap(({ goal }) => goal?.hash ?? []));
  const contentByHash = new Map(
    await Promise.all([...hashes].map(async (hash) => [hash, await contents.get(hash)] as const)),
  );
  const write = (batch: readonly FilePlan[]) => {
    for (const file of batch) {
      const result = writeFile(root, file, (file.goal && contentByHash.get(file.goal.hash)) ?? null);
      if (result !== 'unchanged') (result === 'written' ? written : leftAlone).push(file.path);
    }
  };
  // Removals come first, because a file may replace a folder, or a folder a file.
  write(files.filter(({ goal }) => goal === null));
  const needed = new Set(files.flatMap(({ path, goal }) => (goal === null ? [] : listParents(path))));
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    if (needed.has(folder) || findObstacle(root, folder) !== 'folders') continue;
    // A folder that is not empty contains other people's files.
    tryOr(undefined, () => rmdirSync(path.join(root, folder)));
  }
  write(files.filter(({ goal }) => goal !== null));
  return { written, leftAlone };
}

/** Returns the parent folders of these files that do not exist yet. */
export function findMissingFolders(root: string, files: readonly string[]): string[] {
  return [...new Set(files.flatMap(listParents))].filter((folder) => readFileState(root, folder) !== 'other');
}

/** Synchronous from the last check to the write, so that nobody can edit the file in between. */
function writeFile(
  root: string,
  { path: file, goal, known }: FilePlan,
  content: Buffer | null,
): 'written' | 'left-alone' | 'unchanged' {
  const target = path.join(root, file);
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.self-heal`);
  const mayWrite = (now: ReturnType<typeof readFileState>) =>
    now !== 'other' && known.some((state) => isSameState(state, now));
  if (findObstacle(root, file) === 'link') return 'left-alone';
  const current = readFileState(root, file);
  // A kill may have left it behind.
  removeFile(temporary);
  if (current !== 'other' && isSameState(current, goal)) return 'unchanged';
  if (current === 'other' || !mayWrite(current)) return 'left-alone';
  if (goal?.kind === 'link' && content && pointsOutside(root, file, content.toString())) return 'left-alone';
  if (goal && content) {
    if (!makeFolder(path.dirname(target))) return 'left-alone';
    const before = known.find((state) => isSameState(state, current)) ?? null;
    // Keeps a mode that somebody else has changed.
    const mode = current && before && current.mode !== before.mode ? current.mode : goal.mode;
    if (goal.kind === 'link') symlinkSync(content.toString(), temporary);
    else writeTemporary(temporary, content, { mode, ownerFrom: target });
  }
  if (!mayWrite(readFileState(root, file))) {
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

/** True if a link at this path points outside of the root, where a program could write through it. */
export function pointsOutside(root: string, file: string, link: string): boolean {
  return !isInside(root, path.resolve(path.dirname(path.join(root, file)), link));
}

/** Returns false if a file is in place of the folder. */
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
    for (let offset = 0; offset < content.length;) offset += writeSync(descriptor, content, offset);
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
