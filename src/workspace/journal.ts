import { randomBytes } from 'node:crypto';
import { lstatSync, realpathSync, renameSync } from 'node:fs';
import { z } from 'zod';
import { changeId, listOf, runIdShape } from '../model/shape.js';
import { parseJson } from '../parse-json.js';
import {
  hasStateFile,
  readStateText,
  removeStatePath,
  measureStateFile,
  stateFolder,
  writeStateFile,
} from '../state-folder.js';
import { type ContentStore, openContentStore } from './change.js';
import { safePath } from './safe-path.js';
import { plannedFileShape } from './write-files.js';

/**
 * A planned change to the project's tree, written and synced before the first byte changes (HN-2). A later command that finds a journal completes
 * the change. A journal contains the inode numbers of its folders, so it is refused in any other folder.
 */
const journalShape = z.strictObject({
  /** The run in whose `changes` folder the files' contents are. */
  runId: runIdShape,
  changes: listOf(changeId),
  /** The goal: to revert an unproven fix, to reapply a proven one, or to finish an undo. */
  purpose: z.enum(['take-out', 'put-back', 'undo']),
  /** Paths are relative to the root of the repository or workspace, see `findRoot`. */
  files: listOf(plannedFileShape),
  folders: listOf(safePath),
  /** True if the files determine which packages are installed, so the package manager's install must follow. */
  install: z.boolean(),
});
export type Journal = z.infer<typeof journalShape>;

/** The folders of a journal: the project, and the root to which its paths are relative. */
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
 * Writes the journal of a project in place of the previous one. First reserves the disk space for carrying it out, because a full disk must not leave
 * a change in the project. Rejects with `MissingContentError` if it cannot be carried out.
 */
export async function writeJournal(
  { project, root }: JournalFolders,
  journal: Journal,
  contents: ContentStore,
): Promise<void> {
  await reserveDiskSpace(project, await storeGoals(project, journal, contents));
  const json = { schemaVersion: 1, ...journal, project: readInode(project), root: readInode(root) };
  writeStateFile(journalPath(project), `${JSON.stringify(json)}\n`, { durable: true });
}

export async function closeJournal(project: string): Promise<void> {
  await removeStatePath(journalPath(project));
  await releaseDiskSpace(project);
}

/** Opens the contents that are stored in the project with a run's journal, because the run's own folder may be gone after a kill. */
export function openJournalContentStore(project: string, runId: string): ContentStore {
  return openContentStore(stateFolder(project, 'runs', runId));
}

/** Frees the reserved disk space for the command that carries out the journal. */
export function releaseDiskSpace(project: string): Promise<void> {
  return removeStatePath(reservedPath(project));
}

/** A file occupies whole blocks. */
const BLOCK_BYTES = 4096;
/** For folders and temporary files. */
const OTHER_BYTES = 256 * 1024;

/** Stores the goals of a journal with it, and returns the disk space for carrying it out. */
async function storeGoals(project: string, { runId, files }: Journal, store: ContentStore): Promise<number> {
  const journalStore = openJournalContentStore(project, runId);
  let bytes = OTHER_BYTES;
  for (const { goal } of files) {
    if (!goal) continue;
    const content = await store.get(goal.hash);
    await journalStore.put(content);
    bytes += content.length + BLOCK_BYTES;
  }
  return bytes;
}

async function reserveDiskSpace(project: string, bytes: number): Promise<void> {
  const file = reservedPath(project);
  if (measureStateFile(file) >= bytes) return;
  await removeStatePath(file);
  // Random bytes, because some file systems do not store zeros.
  writeStateFile(file, randomBytes(bytes));
}

/** Reads the journal of a killed run; returns the reason why it must not be carried out, or null if there is no journal. */
export function readJournal({
  project,
  root,
}: JournalFolders): Journal | { readonly refused: string } | null {
  if (!hasStateFile(journalPath(project))) return null;
  const parsed = storedShape.safeParse(parseJson(readStateText(journalPath(project))));
  if (!parsed.success) return { refused: 'it is damaged' };
  const { project: projectNumber, root: rootNumber, schemaVersion: _, ...journal } = parsed.data;
  if (projectNumber !== readInode(project)) return { refused: 'it was written for another folder' };
  if (rootNumber !== readInode(root))
    return { refused: `${root}, to which its paths are relative, is no longer the same folder` };
  return journal;
}

/** Sets a journal aside, so that the next run can start; returns its new path. */
export function setJournalAside(project: string): string {
  const aside = stateFolder(project, `journal.refused-${process.pid}-${Date.now()}.json`);
  hasStateFile(journalPath(project));
  renameSync(journalPath(project), aside);
  return aside;
}

function reservedPath(project: string): string {
  return stateFolder(project, 'reserved');
}

function journalPath(project: string): string {
  return stateFolder(project, 'journal.json');
}

/** Identifies a folder on its file system, even after it was moved. */
function readInode(folder: string): number {
  return lstatSync(realpathSync(folder)).ino;
}
