import { randomBytes } from 'node:crypto';
import { lstatSync, realpathSync, renameSync } from 'node:fs';
import { z } from 'zod';
import { changeId, listOf, runIdShape } from '../model/shape.js';
import { jsonOf } from '../json-of.js';
import {
  hasState,
  readStateText,
  removeState,
  sizeOfState,
  stateFolder,
  writeState,
} from '../state-folder.js';
import { type Contents, contentsOf } from './change.js';
import { safePath } from './safe-path.js';
import { plannedFileShape } from './write-files.js';

/**
 * What is about to be done to the project's tree, written and synced before the first byte changes (HN-2). Whoever finds a journal brings each file
 * to its goal. It says which folders it was written for, by their numbers, and is refused if those are others now.
 */
const journalShape = z.strictObject({
  /** The run whose changes folder holds the contents. */
  runId: runIdShape,
  changes: listOf(changeId),
  /** What the goal is: to revert an unproven fix, to reapply a proven one, or to finish an undo. */
  purpose: z.enum(['take-out', 'put-back', 'undo']),
  /** Their paths are relative to the root of the repository or workspace, see `rootOf`. */
  files: listOf(plannedFileShape),
  folders: listOf(safePath),
  /** Whether the files determine which packages are installed, so that the package manager's install must follow. */
  install: z.boolean(),
});
export type Journal = z.infer<typeof journalShape>;

/** A journal that must not be acted on, with the reason as a phrase. */
interface RefusedJournal {
  readonly refused: string;
}

/** Where a journal is written or followed: the project, and the folder that its files are relative to. */
export interface JournalPlace {
  readonly project: string;
  readonly root: string;
}

const storedShape = journalShape.extend({
  schemaVersion: z.literal(1),
  project: z.number(),
  root: z.number(),
});

/**
 * Writes the journal of a project, and replaces the one before. What following it takes on the disk is reserved first, so that a disk that becomes
 * full leaves no change in the project. Rejects with `ContentsMissing` if it could not be followed.
 */
export async function writeJournal(
  { project, root }: JournalPlace,
  journal: Journal,
  contents: Contents,
): Promise<void> {
  await keepGoals(project, journal, contents);
  await reserve(project, await bytesFor(journal, contents));
  const text = { schemaVersion: 1, ...journal, project: numberOf(project), root: numberOf(root) };
  writeState(fileOf(project), `${JSON.stringify(text)}\n`, { durable: true });
}

export async function closeJournal(project: string): Promise<void> {
  await removeState(fileOf(project));
  await release(project);
}

/** Returns the contents that are kept beside the journal of a run, since what else it has may be on a disk that is gone after a kill. */
export function contentsBeside(project: string, runId: string): Contents {
  return contentsOf(stateFolder(project, 'runs', runId));
}

async function keepGoals(project: string, { runId, files }: Journal, contents: Contents): Promise<void> {
  const kept = contentsBeside(project, runId);
  for (const { goal } of files) if (goal) await kept.put(await contents.get(goal.hash));
}

/** Frees what is reserved for whoever follows the journal now. */
export function release(project: string): Promise<void> {
  return removeState(reservedFor(project));
}

/** A file takes whole blocks. */
const BLOCK_BYTES = 4096;
/** For folders, and for what else is written on the way. */
const MORE_BYTES = 256 * 1024;

async function bytesFor({ files }: Journal, contents: Contents): Promise<number> {
  let bytes = MORE_BYTES;
  for (const { goal } of files) if (goal) bytes += (await contents.get(goal.hash)).length + BLOCK_BYTES;
  return bytes;
}

async function reserve(project: string, bytes: number): Promise<void> {
  const file = reservedFor(project);
  if (sizeOfState(file) >= bytes) return;
  await removeState(file);
  // Some file systems keep no zeros.
  writeState(file, randomBytes(bytes));
}

/** Reads the journal that a killed run left; returns why it cannot be used, or null if there is none. */
export function readJournal({ project, root }: JournalPlace): Journal | RefusedJournal | null {
  if (!hasState(fileOf(project))) return null;
  const parsed = storedShape.safeParse(jsonOf(readStateText(fileOf(project))));
  if (!parsed.success) return { refused: 'it is damaged' };
  const { project: ours, root: top, schemaVersion: _, ...journal } = parsed.data;
  if (ours !== numberOf(project)) return { refused: 'it was written for another folder' };
  if (top !== numberOf(root))
    return { refused: `${root}, the root of its files, is another folder than before` };
  return journal;
}

/** Sets a journal aside, so that the next run works; returns its new path. */
export function setJournalAside(project: string): string {
  const aside = stateFolder(project, `journal.refused-${process.pid}-${Date.now()}.json`);
  hasState(fileOf(project));
  renameSync(fileOf(project), aside);
  return aside;
}

function reservedFor(project: string): string {
  return stateFolder(project, 'reserved');
}

function fileOf(project: string): string {
  return stateFolder(project, 'journal.json');
}

/** Identifies a folder on its file system, also after it was moved. */
function numberOf(folder: string): number {
  return lstatSync(realpathSync(folder)).ino;
}
