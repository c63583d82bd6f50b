import path from 'node:path';
import { type Change, type Contents, storeChange, mergeFile, mergeOnto } from './change.js';
import { changesPackages, installOf, restoreLocks } from './install.js';
import { closeJournal, writeJournal } from './journal.js';
import { type FileEdit, isSame, stateOf } from './file-state.js';
import { missingFolders, type PlannedFile, writeFiles, type Written } from './write-files.js';
import { reasonOf } from '../problem.js';

/** The result of applying a change; `conflict` names the files in which somebody else changed the same lines meanwhile. */
export type Applied =
  | { readonly kind: 'applied'; readonly change: Change }
  /** It could not be written, for example because the disk is full. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

export interface ChangesOptions {
  readonly project: string;
  /** The folder that paths of files are relative to. */
  readonly root: string;
  readonly runId: string;
  /** The run's folder, which determines where changes are stored. */
  readonly runDir: string;
  readonly contents: Contents;
  /** Called before the package manager's install runs in the project, and if that fails. */
  readonly warn: (message: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * The stack of changes that a run has applied to the project, oldest first, under one journal, which describes the state that a kill must
 * leave for all of them together (HN-2).
 */
export class AppliedChanges {
  readonly #options: ChangesOptions;
  /** The bytes that the changes need, since somebody may delete what is stored while they are in the project. */
  readonly #bytes = new Map<string, Buffer>();
  readonly #contents: Contents;
  /** All changes, whether in the project or temporarily reverted. */
  #all: readonly Change[] = [];
  readonly #decided = new Set<string>();
  /** The files that changes of this run have edited, including those of changes reverted since. */
  readonly everEdited = new Set<string>();
  #reverted: ReadonlySet<string> = new Set();

  constructor(options: ChangesOptions) {
    this.#options = options;
    const { contents } = options;
    this.#contents = { ...contents, get: async (hash) => this.#bytes.get(hash) ?? contents.get(hash) };
  }

  /** Returns these changes and, transitively, later ones that edit the same files. */
  builtOn(ids: Iterable<string>): ReadonlySet<string> {
    const found = new Set(ids);
    const paths = new Set<string>();
    for (const { id, edits } of this.#all) {
      if (edits.some((edit) => paths.has(edit.path))) found.add(id);
      if (found.has(id)) for (const edit of edits) paths.add(edit.path);
    }
    return found;
  }

  async apply(change: Change): Promise<Applied> {
    const { runDir, root } = this.#options;
    const itself = new Set([change.id]);
    const back = async () => {
      // The change may have been written in part.
      this.#reverted = new Set();
      await this.moveTo(itself);
      await this.#forget(itself);
    };
    try {
      const { edits, conflicts } = await mergeOnto(root, change.edits, this.#contents);
      if (conflicts.length > 0) return { kind: 'conflict', files: conflicts };
      const added = edits.flatMap(({ path: file, after }) => (after ? [file] : []));
      const merged = { ...change, edits, folders: missingFolders(root, added) };
      await storeChange(runDir, merged);
      await this.#keepBytes(merged);
      for (const edit of edits) this.everEdited.add(edit.path);
      this.#all = [...this.#all, merged];
      this.#reverted = itself;
      const { leftAlone, locks } = await this.#move(new Set());
      if (leftAlone.length === 0) return { kind: 'applied', change: await this.#withLocks(merged, locks) };
      await restoreLocks(root, locks, this.#contents);
      await back();
      return { kind: 'conflict', files: leftAlone };
    } catch (error) {
      await back();
      return { kind: 'failed', reason: reasonOf(error) };
    }
  }

  /** Brings the project to the state in which exactly these changes are reverted. */
  async moveTo(goal: ReadonlySet<string>): Promise<Written> {
    const { locks, ...written } = await this.#move(goal);
    await restoreLocks(this.#options.root, locks, this.#contents);
    return written;
  }

  async #move(goal: ReadonlySet<string>): Promise<Written & { readonly locks: readonly FileEdit[] }> {
    const moved = this.#all.filter(({ id }) => goal.has(id) !== this.#reverted.has(id));
    const paths = new Set(editsOf(moved).map((edit) => edit.path));
    await this.#rebase(paths);
    const { files, folders } = planOf(this.#all, goal);
    this.#reverted = new Set([...this.#reverted, ...goal]);
    await this.#keepJournal();
    const plan = { files: files.filter((file) => paths.has(file.path)), folders };
    const written = await writeFiles(this.#options.root, plan, this.#contents);
    const installs = written.written.length > 0 && (await changesPackages(editsOf(moved), this.#contents));
    const locks = installs ? await this.#install() : [];
    this.#reverted = goal;
    await this.#keepJournal();
    return { ...written, locks };
  }

  /** Makes what the install of a change wrote into lock files a part of the change, so that it is reverted with it. */
  async #withLocks(change: Change, locks: readonly FileEdit[]): Promise<Change> {
    if (locks.length === 0) return change;
    const after = new Map(locks.map((one) => [one.path, one]));
    const own = change.edits.map((edit) => ({ ...edit, after: (after.get(edit.path) ?? edit).after }));
    const more = locks.filter(({ path: file }) => !own.some((edit) => edit.path === file));
    const whole = { ...change, edits: [...own, ...more] };
    for (const one of locks) this.everEdited.add(one.path);
    await storeChange(this.#options.runDir, whole);
    await this.#keepBytes(whole);
    this.#all = this.#all.map((one) => (one.id === change.id ? whole : one));
    await this.#keepJournal();
    return whole;
  }

  async revert(ids: readonly string[]): Promise<Written & { readonly lost: readonly string[] }> {
    const gone = this.builtOn(ids);
    const again = this.#all.filter(({ id }) => gone.has(id) && !ids.includes(id));
    for (const id of gone) this.#decided.delete(id);
    const written = await this.moveTo(gone);
    await this.#forget(gone);
    const lost: string[] = [];
    for (const change of again) if ((await this.apply(change)).kind !== 'applied') lost.push(change.id);
    return { ...written, lost };
  }

  /** The changes that are in the project now. */
  applied(): readonly Change[] {
    return this.#all.filter(({ id }) => !this.#reverted.has(id));
  }

  edited(): ReadonlySet<string> {
    return new Set(editsOf(this.applied()).map((edit) => edit.path));
  }

  async decided(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#decided.add(id);
    await this.#keepJournal();
  }

  async revertUndecided(): Promise<void> {
    const open = this.#all.map(({ id }) => id).filter((id) => !this.#decided.has(id));
    if (open.length > 0 || this.#reverted.size > 0) await this.revert(open);
  }

  #forget(gone: ReadonlySet<string>): Promise<void> {
    this.#all = this.#all.filter(({ id }) => !gone.has(id));
    this.#reverted = new Set();
    for (const id of gone) this.#decided.delete(id);
    const needed = new Set(hashesOf(this.#all));
    for (const hash of this.#bytes.keys()) if (!needed.has(hash)) this.#bytes.delete(hash);
    return this.#keepJournal();
  }

  async #keepBytes(change: Change): Promise<void> {
    for (const hash of hashesOf([change])) this.#bytes.set(hash, await this.#contents.get(hash));
  }

  /**
   * If somebody has edited a file since it was last written, merges the edit into all states that the changes give the file, so that moving to
   * any of them keeps it. A file in which the same lines were changed stays as it is, and is left alone.
   */
  async #rebase(paths: ReadonlySet<string>): Promise<void> {
    const { runDir, root } = this.#options;
    for (const { path: file, known, goal: expected } of planOf(this.#all, this.#reverted).files) {
      const now = stateOf(root, file);
      if (!paths.has(file) || now === 'other' || known.some((one) => isSame(one, now))) continue;
      const place = path.join(root, file);
      const states = await Promise.all(
        known.map(async (after) =>
          mergeFile(place, { edit: { before: expected, after }, now }, this.#contents),
        ),
      );
      const merged = new Map(known.map((one, at) => [one, states[at] ?? null]));
      if (states.includes(null)) continue;
      this.#all = this.#all.map((change) => ({
        ...change,
        edits: change.edits.map((edit) =>
          edit.path === file
            ? { ...edit, before: merged.get(edit.before) ?? null, after: merged.get(edit.after) ?? null }
            : edit,
        ),
      }));
      const edited = this.#all.filter(({ edits }) => edits.some((edit) => edit.path === file));
      for (const change of edited) {
        await storeChange(runDir, change);
        await this.#keepBytes(change);
      }
    }
  }

  /** Writes the journal for the state that a kill must leave: decided changes are in, all others are out. */
  async #keepJournal(): Promise<void> {
    const { runId, root, project } = this.#options;
    const open = this.builtOn(this.#all.map(({ id }) => id).filter((id) => !this.#decided.has(id)));
    if (open.size === 0 && this.#reverted.size === 0) return closeJournal(project);
    const concerned = open.size > 0 ? open : this.#reverted;
    const changes = this.#all.map(({ id }) => id).filter((id) => concerned.has(id));
    const install = await changesPackages(editsOf(this.#all), this.#contents);
    const purpose = open.size > 0 ? 'take-out' : 'put-back';
    const journal = { runId, changes, purpose, ...planOf(this.#all, open), install } as const;
    await writeJournal({ project, root }, journal, this.#contents);
  }

  async #install(): Promise<readonly FileEdit[]> {
    const { warn } = this.#options;
    const { command, ...install } = await installOf({ ...this.#options, contents: this.#contents });
    warn(`The dependencies of the project changed: running ${command}`);
    const { failed, locks } = await install.run();
    if (failed !== null) warn(`${command} failed: ${failed.trim().slice(-500)}`);
    return locks;
  }
}

function hashesOf(changes: readonly Change[]): string[] {
  return editsOf(changes).flatMap(({ before, after }) => [before, after].flatMap((one) => one?.hash ?? []));
}

function editsOf(changes: readonly Change[]) {
  return changes.flatMap(({ edits }) => edits);
}

/**
 * Plans the state of each path with the changes in `out` reverted and the others applied; changes are given oldest first. A reverted change
 * must not lie beneath an applied one.
 */
export function planOf(
  changes: readonly Change[],
  out: ReadonlySet<string>,
): { files: PlannedFile[]; folders: string[] } {
  const files = new Map<string, PlannedFile>();
  for (const { id, edits } of changes) {
    for (const { path: file, before, after } of edits) {
      const earlier = files.get(file);
      const goal = out.has(id) ? (earlier ? earlier.goal : before) : after;
      files.set(file, { path: file, known: [...(earlier?.known ?? []), before, after], goal });
    }
  }
  return { files: [...files.values()], folders: changes.flatMap(({ folders }) => folders) };
}
