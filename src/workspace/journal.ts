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
 * A planned change of the project's tree, written and synced before the first byte changes (HN-2). The next command that finds a journal brings each
 * file to its goal. A journal contains the inode numbers of the folders that it was written for, and is refused in any other folder.
 */
const journalShape = z.strictObject({
  /** The run whose changes folder holds the contents. */
  runId: runIdShape,
  changes: listOf(changeId),
  /** The goal: to revert an unproven fix, to reapply a proven one, or to finish an undo. */
  purpose: z.enum(['take-out', 'put-back', 'undo']),
  /** Paths are relative to the root of the repository or workspace, see `rootOf`. */
  files: listOf(plannedFileShape),
  folders: listOf(safePath),
  /** Whether the files determine which packages are installed, so that the package manager's install must follow. */
  install: z.boolean(),
});
export type Journal = z.infer<typeof journalShape>;

/** The folders of a journal: the project, and the root that its paths are relative to. */
export interface JournalFolders {
  readonly project: string;
  readonly root: string;
}

const storedShape = journalShape.extend({
  schemaVersion: z.literal(1),
  project: z.number(),
  root: z.number(),
});

/**
 * Writes the journal of a project in place of the previous one. The disk space that is needed to follow it is reserved first, so that a full disk
 * leaves no change in the project. Rejects with `ContentsMissing` if it could not be followed.
 */
export async function writeJournal(
  { project, root }: JournalFolders,
  journal: Journal,
  contents: Contents,
): Promise<void> {
  await reserve(project, await storeGoals(project, journal, contents));
  const text = { schemaVersion: 1, ...journal, project: numberOf(project), root: numberOf(root) };
  writeState(fileOf(project), `${JSON.stringify(text)}\n`, { durable: true });
}

export async function closeJournal(project: string): Promise<void> {
  await removeState(fileOf(project));
  await release(project);
}

/** Returns the contents that are stored in the project with a run's journal. Other contents may be on a disk that is gone after a kill. */
export function journalContents(project: string, runId: string): Contents {
  return contentsOf(stateFolder(project, 'runs', runId));
}

/** Frees the reserved disk space for the command that follows the journal. */
export function release(project: string): Promise<void> {
  return removeState(reservedFor(project));
}

/** A file occupies whole blocks. */
const BLOCK_BYTES = 4096;
/** For folders and temporary files. */
const OTHER_BYTES = 256 * 1024;

/** Stores the goals of a journal with it, and returns the disk space that is needed to follow it. */
async function storeGoals(project: string, { runId, files }: Journal, contents: Contents): Promise<number> {
  const stored = journalContents(project, runId);
  let bytes = OTHER_BYTES;
  for (const { goal } of files) {
    if (!goal) continue;
    const content = await contents.get(goal.hash);
    await stored.put(content);
    bytes += content.length + BLOCK_BYTES;
  }
  return bytes;
}

async function reserve(project: string, bytes: number): Promise<void> {
  const file = reservedFor(project);
  if (sizeOfState(file) >= bytes) return;
  await removeState(file);
  // Some file systems do not store zeros.
  writeState(file, randomBytes(bytes));
}

/** Reads the journal that a killed run left; returns the reason why it must not be followed, or null if there is none. */
export function readJournal({
  project,
  root,
}: JournalFolders): Journal | { readonly refused: string } | null {
  if (!hasState(fileOf(project))) return null;
  const parsed = storedShape.safeParse(jsonOf(readStateText(fileOf(project))));
  if (!parsed.success) return { refused: 'it is damaged' };
  const { project: projectNumber, root: rootNumber, schemaVersion: _, ...journal } = parsed.data;
  if (projectNumber !== numberOf(project)) return { refused: 'it was written for another folder' };
  if (rootNumber !== numberOf(root))
    return { refused: `${root}, the root of its files, is another folder than before` };
  return journal;
}

/** Sets a journal aside, so that the next run can start; returns its new path. */
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

/** Identifies a folder on its file system, even after it was moved. */
function numberOf(folder: string): number {
  return lstatSync(realpathSync(folder)).ino;
}
