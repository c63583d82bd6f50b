import { realpathSync } from 'node:fs';
import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { describeError } from '../problem.js';
import { type ApplyResult, AppliedChanges, type ChangesOptions } from './applied-changes.js';
import type { Change, ContentStore } from './change.js';
import { type CopyFolderOptions, makeCopyFolder } from './copy-folder.js';
import { listFilesChangedSince, collectChanges, createCopy, type ProjectCopy } from './copy.js';
import {
  createFolderSnapshot,
  createProjectSnapshot,
  listChangedOutsideGit,
  type Entry,
  isIgnoredByGit,
  listProject,
  findRoot,
  explainUnreadableRepository,
} from './project-files.js';
import type { FileSnapshot } from './git-trees.js';
import type { WriteResult } from './write-files.js';

/** A copy that is ready for an agent or for a clean run. */
export interface WorkingCopy {
  /** The project's folder in the copy: the working directory. */
  readonly cwd: string;
  /** The folder that contains the whole copy; nothing else uses it. */
  readonly folder: string;
  /** Replaces paths in the project with paths in the copy. */
  readonly toCopyPaths: (text: string) => string;
  /** Replaces paths in the copy, in an agent's text, with paths in the project. */
  readonly toProjectPaths: (text: string) => string;
  /** The files, relative to the root, that self-heal had edited when the copy was last updated. */
  readonly edited: ReadonlySet<string>;
}

/** The collected changes of an agent, to be judged and applied. */
export interface CollectedChange {
  /** Null if nothing that the agent changed can be part of a fix. */
  readonly change: Change | null;
  readonly ignored: readonly string[];
  readonly refused: string | null;
  /** The project's source files that somebody changed while the agent worked in its copy. */
  readonly changedInProject: readonly string[];
  readonly before: FileSnapshot;
  readonly after: FileSnapshot;
}

/** The project's own tree, which only patches under a journal change, and the copies in which agents work (HN-1, HN-2). */
export interface Workspace {
  /** The folder that is copied: the root of the repository or workspace that contains the project, or else the project. */
  readonly root: string;
  /** Fills this many copies (by default one) before the agents need them. A copy that fails is made again later. */
  prepare(count?: number): Promise<void>;
  /**
   * Updates a copy to the current state of the project or, while the project contains a fix under test, to its state at the last update. Copies are
   * numbered from 0, one for each agent that works at the same time. Rejects if the copy cannot be made, for example because the disk is full.
   */
  updateCopy(copy?: number, options?: { readonly isFixUnderTest: boolean }): Promise<WorkingCopy>;
  /** True if a copy was updated before, so it can be updated even while the project contains a fix under test. */
  hasCopy(copy: number): boolean;
  /**
   * Updates the first copy to the state of a fresh clone, with the packages, the `.env` files, and the untracked files that have not changed since
   * a time (in milliseconds since the epoch).
   */
  updateCleanCopy(since: number): Promise<WorkingCopy>;
  /** Returns the files outside of git, relative to the root, that somebody other than self-heal changed since a time. */
  listChangedOutsideGit(since: number): Promise<string[]>;
  /** Creates a change from edits whose contents are stored, in the form that `collectChanges` returns. */
  createCollectedChange(id: string, edits: Change['edits']): CollectedChange & { readonly change: Change };
  /** Returns the agent's changes in its copy. `id` identifies the change within the run. */
  collectChanges(id: string, copy?: number): Promise<CollectedChange>;
  /** Writes a change into the project, on top of the applied ones. A kill reverts it until it is marked as decided. */
  apply(change: Change): Promise<ApplyResult>;
  /** Reverts these changes, and those built on them, until the next call; applies all others. */
  revertTemporarily(ids: readonly string[]): Promise<WriteResult>;
  /** Reverts changes permanently. Changes built on them are reapplied; `lost` lists those that conflict. */
  revert(ids: readonly string[]): Promise<WriteResult & { readonly lost: readonly string[] }>;
  /** Returns the ids of the changes that are in the project now, oldest first. */
  listApplied(): readonly string[];
  /** Returns the files that the currently applied changes edit, relative to the root. */
  listEditedFiles(): ReadonlySet<string>;
  /** Marks these changes as decided, so that a kill leaves them in the project. */
  markDecided(ids: readonly string[]): Promise<void>;
  /** Reverts the changes that are not decided, and deletes the copies. */
  close(): Promise<void>;
}

interface WorkspaceOptions extends Omit<ChangesOptions, 'root'> {
  /** Called with the folders of all copies before the newest of them exists. */
  readonly onCopy: (folders: readonly string[]) => void;
}

export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { contents } = options;
  const project = realpathSync(options.project);
  const [root, unreadable] = await Promise.all([findRoot(project), explainUnreadableRepository(project)]);
  if (unreadable !== null)
    options.warn(`git cannot read the repository, so files that it ignores may be changed: ${unreadable}`);
  const copies: (Promise<ProjectCopy> | undefined)[] = [];
  /** For each copy that has been updated, the files that were edited by the changes applied at that time. */
  const editedByCopy = new Map<number, ReadonlySet<string>>();
  const folders = new Set<string>();
  const announce = (folder: string) => {
    folders.add(folder);
    options.onCopy([...folders]);
  };
  const openCopyOnce = (n: number) => (copies[n] ??= openCopy({ root, project, n, announce }));
  const changes = new AppliedChanges({ ...options, root, project });
  const toWorkingCopy = ({ tree, folder }: ProjectCopy, edited: ReadonlySet<string>): WorkingCopy => ({
    cwd: path.join(tree, path.relative(root, project)),
    folder,
    ...createPathConverters(options.project, root, tree),
    edited,
  });
  const listChangedByOthers = async (entries: readonly Entry[], since: number) => {
    const changed = [...(await listChangedOutsideGit(root, entries, since))];
    return changed.filter((file) => !changes.hasEdited(file));
  };
  // Only one operation at a time writes to the project, and none after the run has ended.
  let lastWrite: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const write = <T>(work: () => Promise<T>): Promise<T> => {
    if (isClosed) return Promise.reject(new Error('the run has ended, so nothing more is written'));
    const result = lastWrite.then(work);
    lastWrite = result.catch(() => undefined);
    return result;
  };
  const createChange = (id: string, edits: Change['edits']): Change => ({ id, edits, folders: [] });
  return {
    root,
    prepare: async (count = 1) => {
      // Copying may fail because somebody changes a file of the project; the copy is then made when an agent needs it.
      await Promise.all(
        Array.from({ length: count }, (_, n) => openCopyOnce(n).catch(() => (copies[n] = undefined))),
      );
    },
    updateCopy: async (n = 0, { isFixUnderTest } = { isFixUnderTest: false }) => {
      const copy = await openCopyOnce(n);
      await (isFixUnderTest ? copy.reset() : copy.refresh());
      const edited = (isFixUnderTest ? editedByCopy.get(n) : undefined) ?? new Set(changes.listEditedFiles());
      editedByCopy.set(n, edited);
      return toWorkingCopy(copy, edited);
    },
    hasCopy: (n) => editedByCopy.has(n),
    updateCleanCopy: async (since) => {
      const copy = await openCopyOnce(0);
      editedByCopy.delete(0);
      await copy.refresh(async (entries) => {
        const changed = new Set(await listChangedByOthers(entries, since));
        return entries.filter((entry) => !isIgnoredByGit(entry) && !changed.has(entry.path));
      });
      return toWorkingCopy(copy, new Set(changes.listEditedFiles()));
    },
    listChangedOutsideGit: async (since) => listChangedByOthers(await listProject(root), since),
    createCollectedChange: (id, edits) => {
      const source = createProjectSnapshot(root);
      const reversedEdits = edits.map((edit) => ({ ...edit, after: edit.before }));
      return {
        change: createChange(id, edits),
        ignored: [],
        refused: null,
        changedInProject: [],
        before: applyEdits(source, reversedEdits, contents),
        after: applyEdits(source, edits, contents),
      };
    },
    collectChanges: async (id, n = 0) => {
      const copy = await openCopyOnce(n);
      const { edits, ignored, refused } = await collectChanges(root, copy, contents).catch(
        (error: unknown) => ({
          edits: [],
          ignored: [],
          refused: `its change could not be read: ${describeError(error)}`,
        }),
      );
      const before = createFolderSnapshot(copy.base);
      return {
        change: edits.length > 0 ? createChange(id, edits) : null,
        ignored,
        refused,
        changedInProject: await listFilesChangedSince(root, copy, (file, now) =>
          changes.isUnchangedSinceWrite(file, now),
        ).catch(() => []),
        before,
        after: applyEdits(before, edits, contents),
      };
    },
    apply: (change) => write(() => changes.apply(change)),
    revertTemporarily: (ids) => write(() => changes.setReverted(changes.findDependents(ids))),
    revert: (ids) => write(() => changes.revert(ids)),
    listApplied: () => changes.listApplied().map(({ id }) => id),
    listEditedFiles: () => changes.listEditedFiles(),
    markDecided: (ids) => write(() => changes.markDecided(ids)),
    close: async () => {
      const reverted = isClosed ? lastWrite : write(() => changes.revertUndecided());
      isClosed = true;
      await reverted;
      for (const copy of await Promise.allSettled(copies.flatMap((opening) => opening ?? [])))
        if (copy.status === 'fulfilled') await copy.value.remove();
    },
  };
}

async function openCopy(options: CopyFolderOptions): Promise<ProjectCopy> {
  const copy = createCopy(options.root, await makeCopyFolder(options));
  await copy.prepare();
  return copy;
}

function createPathConverters(
  project: string,
  root: string,
  tree: string,
): Pick<WorkingCopy, 'toCopyPaths' | 'toProjectPaths'> {
  // If the path of the project contains a link, the root has two names.
  const alias = path.resolve(project, path.relative(realpathSync(project), root));
  const names = [...new Set([root, alias])].toSorted((a, b) => b.length - a.length);
  return {
    toCopyPaths: (text) => names.reduce((result, name) => replacePath(result, name, tree), text),
    toProjectPaths: (text) => replacePath(text, tree, alias),
  };
}

/** Returns a snapshot with these edits applied. */
function applyEdits(source: FileSnapshot, edits: Change['edits'], contents: ContentStore): FileSnapshot {
  const edited = new Map(edits.map((edit) => [edit.path, edit.after]));
  return {
    listPaths: async () => {
      const others = (await source.listPaths()).filter((file) => !edited.has(file));
      return [...others, ...[...edited].flatMap(([file, after]) => (after ? [file] : []))];
    },
    readFiles: async (paths) => {
      const files = new Map(await source.readFiles(paths.filter((file) => !edited.has(file))));
      for (const file of paths) {
        const after = edited.get(file);
        if (after?.kind === 'file') files.set(file, await contents.get(after.hash));
      }
      return files;
    },
  };
}

/** Replaces a path in a text, but not inside longer names. */
function replacePath(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  return text.replaceAll(new RegExp(`(?<![\\w.-])${escapeStringRegexp(from)}(?![\\w.-])`, 'g'), () => to);
}
