import path from 'node:path';
import { type Change, type ContentStore, storeChange, mergeFile, mergeEdits } from './change.js';
import { changesPackages, createInstaller, restoreLockFiles } from './install.js';
import { closeJournal, writeJournal } from './journal.js';
import { type FileEdit, type FileState, isSameState, readFileState } from './file-state.js';
import { findMissingFolders, type FilePlan, writeFiles, type WriteResult } from './write-files.js';
import { describeError } from '../problem.js';

/** The result of applying a change. */
export type ApplyResult =
  | { readonly kind: 'applied'; readonly change: Change }
  /** The change could not be written, for example because the disk is full. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Somebody else changed the same lines in these files. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

export interface ChangesOptions {
  readonly project: string;
  /** The folder to which paths are relative. */
  readonly root: string;
  readonly runId: string;
  /** The run's folder, next to which changes are stored. */
  readonly runDir: string;
  readonly contents: ContentStore;
  /** Reports that the package manager's install runs in the project, or has failed. */
  readonly warn: (message: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * The stack of changes that a run has applied to the project, oldest first. One journal describes the state that all of them must have after a
 * kill (HN-2).
 */
export class AppliedChanges {
  readonly #options: ChangesOptions;
  /** Copies of the stored contents, in case somebody deletes those while the changes are in the project. */
  readonly #bytes = new Map<string, Buffer>();
  readonly #contents: ContentStore;
  /** All changes, whether in the project or temporarily reverted. */
  #changes: readonly Change[] = [];
  readonly #decided = new Set<string>();
  /** The state in which this run last wrote each file, for a change or its revert. */
  readonly #lastWritten = new Map<string, FileState | null>();
  #reverted: ReadonlySet<string> = new Set();

  constructor(options: ChangesOptions) {
    this.#options = options;
    const { contents } = options;
    this.#contents = { ...contents, get: async (hash) => this.#bytes.get(hash) ?? contents.get(hash) };
  }

  /** Returns these changes and, transitively, later ones that edit the same files. */
  findDependents(ids: Iterable<string>): ReadonlySet<string> {
    const dependent = new Set(ids);
    const paths = new Set<string>();
    for (const { id, edits } of this.#changes) {
      if (edits.some((edit) => paths.has(edit.path))) dependent.add(id);
      if (dependent.has(id)) for (const edit of edits) paths.add(edit.path);
    }
    return dependent;
  }

  async apply(change: Change): Promise<ApplyResult> {
    if (this.#reverted.size > 0) throw new Error('A change was applied while others were reverted');
    const { runDir, root } = this.#options;
    const ids = new Set([change.id]);
    const revert = async () => {
      // The change may have been written in part.
      this.#reverted = new Set();
      await this.setReverted(ids);
      await this.#forget(ids);
    };
    try {
      const unmergeable = await this.#findUnmergeableFiles(change);
      if (unmergeable.length > 0) return { kind: 'conflict', files: unmergeable };
      const { edits, conflicts } = await mergeEdits(root, change.edits, this.#contents);
      if (conflicts.length > 0) return { kind: 'conflict', files: conflicts };
      const added = edits.flatMap(({ path: file, after }) => (after ? [file] : []));
      const merged = { ...change, edits, folders: findMissingFolders(root, added) };
      await storeChange(runDir, merged);
      await this.#loadBytes(merged);
      this.#changes = [...this.#changes, merged];
      this.#reverted = ids;
      const { leftAlone: skipped, lockEdits } = await this.#revertAndInstall(new Set());
      if (skipped.length === 0)
        return { kind: 'applied', change: await this.#addLockEdits(merged, lockEdits) };
      await this.#restoreLockFiles(lockEdits);
      await revert();
      return { kind: 'conflict', files: skipped };
    } catch (error) {
      await revert();
      return { kind: 'failed', reason: describeError(error) };
    }
  }

  /**
   * Returns the files of a change whose edits by other people cannot be merged into the applied changes. A change on top of them would count such edits
   * as its own, and lose them when it is reverted.
   */
  async #findUnmergeableFiles({ edits }: Change): Promise<string[]> {
    const paths = new Set(edits.map((edit) => edit.path));
    await this.#rebase(paths);
    return planFiles(this.#changes, this.#reverted).files.flatMap(({ path: file, goal }) => {
      const now = readFileState(this.#options.root, file);
      return paths.has(file) && (now === 'other' || !isSameState(now, goal)) ? [file] : [];
    });
  }

  /** Reverts exactly these changes and applies all others. */
  async setReverted(goal: ReadonlySet<string>): Promise<WriteResult> {
    const { lockEdits, ...result } = await this.#revertAndInstall(goal);
    await this.#restoreLockFiles(lockEdits);
    return result;
  }

  async #restoreLockFiles(lockEdits: readonly FileEdit[]): Promise<void> {
    await restoreLockFiles(this.#options.root, lockEdits, this.#contents);
    for (const lock of lockEdits) this.#lastWritten.set(lock.path, lock.before);
  }

  /** True if a change of this run has edited a file, even if it has been reverted since. */
  hasEdited(file: string): boolean {
    return this.#lastWritten.has(file);
  }

  /** True if a file has not changed since this run last wrote it, in a change or a revert. */
  isUnchangedSinceWrite(file: string, now: FileState | null): boolean {
    const written = this.#lastWritten.get(file);
    return written !== undefined && isSameState(written, now);
  }

  async #revertAndInstall(
    goal: ReadonlySet<string>,
  ): Promise<WriteResult & { readonly lockEdits: readonly FileEdit[] }> {
    const changed = this.#changes.filter(({ id }) => goal.has(id) !== this.#reverted.has(id));
    const paths = new Set(listEdits(changed).map((edit) => edit.path));
    await this.#rebase(paths);
    const { files, folders } = planFiles(this.#changes, goal);
    this.#reverted = new Set([...this.#reverted, ...goal]);
    await this.#updateJournal();
    const plan = { files: files.filter((file) => paths.has(file.path)), folders };
    const result = await writeFiles(this.#options.root, plan, this.#contents);
    const leftAlone = new Set(result.leftAlone);
    for (const { path: file, goal: written } of plan.files)
      if (!leftAlone.has(file)) this.#lastWritten.set(file, written);
    const mustInstall =
      result.written.length > 0 && (await changesPackages(listEdits(changed), this.#contents));
    const lockEdits = mustInstall ? await this.#install() : [];
    this.#reverted = goal;
    await this.#updateJournal();
    return { ...result, lockEdits };
  }

  /** Adds an install's changes to lock files to the change that required the install, so that they are reverted with it. */
  async #addLockEdits(change: Change, lockEdits: readonly FileEdit[]): Promise<Change> {
    if (lockEdits.length === 0) return change;
    const byPath = new Map(lockEdits.map((lock) => [lock.path, lock]));
    const updated = change.edits.map((edit) => ({ ...edit, after: (byPath.get(edit.path) ?? edit).after }));
    const added = lockEdits.filter(({ path: file }) => !updated.some((edit) => edit.path === file));
    const extended = { ...change, edits: [...updated, ...added] };
    for (const lock of lockEdits) this.#lastWritten.set(lock.path, lock.after);
    await storeChange(this.#options.runDir, extended);
    await this.#loadBytes(extended);
    this.#changes = this.#changes.map((applied) => (applied.id === change.id ? extended : applied));
    await this.#updateJournal();
    return extended;
  }

  async revert(ids: readonly string[]): Promise<WriteResult & { readonly lost: readonly string[] }> {
    const reverted = this.findDependents(ids);
    const reapplied = this.#changes.filter(({ id }) => reverted.has(id) && !ids.includes(id));
    for (const id of reverted) this.#decided.delete(id);
    const result = await this.setReverted(reverted);
    await this.#forget(reverted);
    const lost: string[] = [];
    for (const change of reapplied) if ((await this.apply(change)).kind !== 'applied') lost.push(change.id);
    return { ...result, lost };
  }

  /** Returns the changes that are in the project now. */
  listApplied(): readonly Change[] {
    return this.#changes.filter(({ id }) => !this.#reverted.has(id));
  }

  listEditedFiles(): ReadonlySet<string> {
    return new Set(listEdits(this.listApplied()).map((edit) => edit.path));
  }

  async markDecided(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#decided.add(id);
    await this.#updateJournal();
  }

  async revertUndecided(): Promise<void> {
    const undecided = this.#changes.map(({ id }) => id).filter((id) => !this.#decided.has(id));
    if (undecided.length === 0 && this.#reverted.size === 0) return;
    const { files } = planFiles(this.#changes, this.findDependents(undecided));
    const { leftAlone } = await this.revert(undecided);
    for (const { path: file, goal } of files.filter((plan) => leftAlone.includes(plan.path)))
      this.#options.warn(describeSkippedFile(file, goal, this.#contents));
  }

  #forget(ids: ReadonlySet<string>): Promise<void> {
    this.#changes = this.#changes.filter(({ id }) => !ids.has(id));
    this.#reverted = new Set();
    for (const id of ids) this.#decided.delete(id);
    const needed = new Set(listHashes(this.#changes));
    for (const hash of this.#bytes.keys()) if (!needed.has(hash)) this.#bytes.delete(hash);
    return this.#updateJournal();
  }

  async #loadBytes(change: Change): Promise<void> {
    for (const hash of listHashes([change])) this.#bytes.set(hash, await this.#contents.get(hash));
  }

  /**
   * If somebody has edited a file since self-heal last wrote it, merges that edit into all states of the file in the applied changes. Skips a file in
   * which both changed the same lines.
   */
  async #rebase(paths: ReadonlySet<string>): Promise<void> {
    const { runDir, root } = this.#options;
    for (const { path: file, known, goal: expected } of planFiles(this.#changes, this.#reverted).files) {
      const now = readFileState(root, file);
      if (!paths.has(file) || now === 'other' || known.some((state) => isSameState(state, now))) continue;
      const states = await Promise.all(
        known.map(async (after) =>
          mergeFile(path.join(root, file), { edit: { before: expected, after }, now }, this.#contents),
        ),
      );
      const merged = new Map(known.map((state, index) => [state, states[index] ?? null]));
      if (states.includes(null)) continue;
      this.#changes = this.#changes.map((change) => ({
        ...change,
        edits: change.edits.map((edit) =>
          edit.path === file
            ? { ...edit, before: merged.get(edit.before) ?? null, after: merged.get(edit.after) ?? null }
            : edit,
        ),
      }));
      const affected = this.#changes.filter(({ edits }) => edits.some((edit) => edit.path === file));
      for (const change of affected) {
        await storeChange(runDir, change);
        await this.#loadBytes(change);
      }
    }
  }

  /** Writes the journal for the state after a kill: decided changes are applied, all others reverted. */
  async #updateJournal(): Promise<void> {
    const { runId, root, project } = this.#options;
    const undecided = this.findDependents(
      this.#changes.map(({ id }) => id).filter((id) => !this.#decided.has(id)),
    );
    if (undecided.size === 0 && this.#reverted.size === 0) return closeJournal(project);
    const affected = undecided.size > 0 ? undecided : this.#reverted;
    const changes = this.#changes.map(({ id }) => id).filter((id) => affected.has(id));
    const install = await changesPackages(listEdits(this.#changes), this.#contents);
    const purpose = undecided.size > 0 ? 'take-out' : 'put-back';
    const journal = { runId, changes, purpose, ...planFiles(this.#changes, undecided), install } as const;
    await writeJournal({ project, root }, journal, this.#contents);
  }

  async #install(): Promise<readonly FileEdit[]> {
    const { warn } = this.#options;
    const { command, ...install } = await createInstaller({ ...this.#options, contents: this.#contents });
    warn(`The project's dependencies changed: running ${command}`);
    const { failed, lockEdits } = await install.run();
    if (failed !== null) warn(`${command} failed: ${failed.trim().slice(-500)}`);
    return lockEdits;
  }
}

/** Says that a file was not restored, and where its earlier content is. */
export function describeSkippedFile(file: string, goal: FileState | null, contents: ContentStore): string {
  const backup = goal ? `; its earlier content is in ${contents.contentPath(goal.hash)}` : '';
  return `Not restored, because somebody else has changed it: ${file}${backup}`;
}

function listHashes(changes: readonly Change[]): string[] {
  return listEdits(changes).flatMap(({ before, after }) =>
    [before, after].flatMap((state) => state?.hash ?? []),
  );
}

function listEdits(changes: readonly Change[]) {
  return changes.flatMap(({ edits }) => edits);
}

/**
 * Plans the state of each path with the changes in `reverted` reverted and the others applied. `changes` is ordered from the oldest to the newest. No
 * applied change may be built on a reverted one.
 */
export function planFiles(
  changes: readonly Change[],
  reverted: ReadonlySet<string>,
): { files: FilePlan[]; folders: string[] } {
  const files = new Map<string, FilePlan>();
  for (const { id, edits } of changes) {
    for (const { path: file, before, after } of edits) {
      const earlier = files.get(file);
      const goal = reverted.has(id) ? (earlier ? earlier.goal : before) : after;
      files.set(file, { path: file, known: [...(earlier?.known ?? []), before, after], goal });
    }
  }
  return { files: [...files.values()], folders: changes.flatMap(({ folders }) => folders) };
}
