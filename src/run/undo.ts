import path from 'node:path';
import { isKept } from '../model/attempt.js';
import { hasStateFile } from '../state-folder.js';
import type { RunState } from './run-state.js';
import {
  type Change,
  type ContentStore,
  MissingContentError,
  openContentStore,
  mergeFile,
  readChange,
} from '../workspace/change.js';
import { type FileEdit, isSameState, readFileState } from '../workspace/file-state.js';
import { changesPackages, createInstaller, restoreLockFiles } from '../workspace/install.js';
import { closeJournal, type Journal, writeJournal } from '../workspace/journal.js';
import { findRoot } from '../workspace/project-files.js';
import { planFiles } from '../workspace/applied-changes.js';
import { type FilePlan, writeFiles, type WriteResult } from '../workspace/write-files.js';

/** Returns the remaining changes of a run, in order; null if its events or one of the changes can no longer be read. */
export function readKeptChanges(dir: string, run: RunState): Change[] | null {
  const { causes, ended } = run;
  // A run writes its report after its last event.
  if (ended === null && hasStateFile(path.join(dir, 'report.json'))) return null;
  const attemptStates = causes.flatMap(({ attempts }) => attempts);
  // A run that ended has judged every attempt. If a judgement is missing, another version wrote these events.
  if (ended && attemptStates.some(({ held, judged }) => held && !judged)) return null;
  const judged = attemptStates.flatMap((attempt) => attempt.judged ?? []);
  const ids = judged.filter(isKept).flatMap(({ change }) => change ?? []);
  const sortedIds = ids.toSorted((a, b) => Number(a) - Number(b));
  const changes = sortedIds.map((id) => readChange(dir, id));
  const readable = changes.filter((change) => change !== null);
  return readable.length < sortedIds.length ? null : readable;
}

/** Combines changes into one, from each file before the first change to the same file after the last. */
export function combineChanges(changes: readonly Change[]): Change {
  const edits = new Map<string, FileEdit>();
  for (const edit of changes.flatMap((change) => change.edits))
    edits.set(edit.path, { ...edit, before: (edits.get(edit.path) ?? edit).before });
  const changed = [...edits.values()].filter(({ before, after }) => before !== null || after !== null);
  return { id: 'all', edits: changed, folders: [] };
}

/**
 * Reverts changes in the project. Keeps later edits by other people; skips and lists a file in which they edited the same lines (HN-8). After a kill, the
 * next command finishes the undo (HN-2). Rejects with `MissingContentError` if the original contents are no longer stored.
 */
export async function undoChanges(
  project: string,
  run: { readonly runId: string; readonly dir: string },
  changes: readonly Change[],
): Promise<WriteResult & { readonly installed: string | null }> {
  const contents = openContentStore(run.dir);
  const root = await findRoot(project);
  const ids = changes.map(({ id }) => id);
  const edits = changes.flatMap((change) => change.edits);
  const { files, folders } = planFiles(changes, new Set(ids));
  const journal: Journal = {
    files: await Promise.all(files.map((file) => planKeepingEdits(file, { root, edits, contents }))),
    folders,
    runId: run.runId,
    changes: ids,
    purpose: 'undo',
    install: await changesPackages(edits, contents),
  };
  await writeJournal({ project, root }, journal, contents);
  const result = await writeFiles(root, journal, contents);
  const { runId } = run;
  const mustInstall = journal.install && result.written.length > 0;
  const install = mustInstall ? await createInstaller({ project, root, runId, contents }) : null;
  if (install) await restoreLockFiles(root, (await install.run()).lockEdits, contents);
  await closeJournal(project);
  return { ...result, installed: install?.command ?? null };
}

interface RevertContext {
  readonly root: string;
  /** Oldest first. */
  readonly edits: readonly FileEdit[];
  readonly contents: ContentStore;
}

/** Plans a file, and keeps edits by other people if they can be merged. */
async function planKeepingEdits(file: FilePlan, { root, edits, contents }: RevertContext): Promise<FilePlan> {
  const now = readFileState(root, file.path);
  if (now === 'other' || file.known.some((state) => isSameState(state, now))) return file;
  const after = edits.findLast((edit) => edit.path === file.path)?.after ?? null;
  const revert = { before: after, after: file.goal };
  const goal = await mergeFile(path.join(root, file.path), { edit: revert, now }, contents);
  return goal === null ? file : { ...file, known: [...file.known, now], goal };
}

/** Handles a rejection: returns null for `MissingContentError`, and throws any other error again. */
export function nullIfMissing(error: unknown): null {
  if (error instanceof MissingContentError) return null;
  throw error;
}
