import { realpathSync } from 'node:fs';
import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { reasonOf } from '../problem.js';
import { type Applied, AppliedChanges, type ChangesOptions } from './applied-changes.js';
import type { Change, Contents } from './change.js';
import { type CopyFolder, makeCopyFolder } from './copy-folder.js';
import { changedSince, collect, createCopy, type ProjectCopy } from './copy.js';
import { changedOutsideGit, type Entry, isLocal, listProject, rootOf, whyNoRules } from './project-files.js';
import { folderTree, projectTree } from './tree.js';
import type { Tree } from './git-trees.js';
import type { Written } from './write-files.js';

/** The copy, ready for an agent or for a clean run. */
export interface AgentPlace {
  /** The project's folder in the copy: the working directory. */
  readonly cwd: string;
  /** The folder that contains the whole copy, which nobody else uses. */
  readonly folder: string;
  /** Replaces paths of the project in a text by paths of the copy. */
  readonly toCopy: (text: string) => string;
  /** Replaces paths of the copy by paths of the project, for what an agent says. */
  readonly toProject: (text: string) => string;
  /** The files that changes of self-heal had edited at the last update of the copy, relative to the root. */
  readonly edited: ReadonlySet<string>;
}

/** What an agent changed, ready to be judged and applied. */
export interface Work {
  /** Null if it changed nothing that can be a fix. */
  readonly change: Change | null;
  readonly ignored: readonly string[];
  readonly refused: string | null;
  /** Source files of the project itself that somebody changed while the agent worked in its copy. */
  readonly changedInProject: readonly string[];
  readonly before: Tree;
  readonly after: Tree;
}

/**
 * The project's own tree, which is changed only by patches under a journal, and the copies of it in which agents work (HN-1, HN-2).
 */
export interface Workspace {
  /** The folder that is copied: the root of the repository or workspace that contains the project, or else the project. */
  readonly root: string;
  /** Starts making this many copies (one by default), so that they are ready when the agents need them; resolves when they are made, as far as they can be. */
  prepare(count?: number): Promise<void>;
  /**
   * Updates a copy to the current state of the project or, while something is tried in that, to the state at its last update. Copies are numbered from
   * 0, because agents that work at the same time have one each. Rejects if the copy cannot be made, for example because the disk is full.
   */
  ready(copy?: number, how?: { readonly isTried: boolean }): Promise<AgentPlace>;
  /** Whether a copy has been updated, so that it can be made ready while something is tried in the project. */
  isMade(copy: number): boolean;
  /**
   * Updates the first copy to what a fresh clone of the project, as it is now, would have: no file that git does not track, unless that is a package,
   * an `.env` file, or there unchanged since a time (in milliseconds since the epoch) and not ignored.
   */
  readyClean(since: number): Promise<AgentPlace>;
  /** Returns the files outside of git, relative to the root, that changed since a time, other than by the changes. */
  changedOutsideGit(since: number): Promise<string[]>;
  /** Creates a change, in the form that `collect` returns, from edits that no agent made in a copy. Their contents must be stored already. */
  edit(id: string, edits: Change['edits']): Work & { readonly change: Change };
  /** Returns what the agent changed in its copy. `id` identifies the change within the run. */
  collect(id: string, copy?: number): Promise<Work>;
  /** Writes a change into the project, on top of the applied ones. Until it is decided, a kill reverts it. */
  apply(change: Change): Promise<Applied>;
  /** Brings the project to the state in which these changes, and those built on them, are reverted, and all others are applied. */
  without(ids: readonly string[]): Promise<Written>;
  /** Reverts changes for good. Changes built on them are reapplied; `lost` lists those that could not be. */
  revert(ids: readonly string[]): Promise<Written & { readonly lost: readonly string[] }>;
  /** Returns the ids of the changes that are in the project now, oldest first. */
  applied(): readonly string[];
  /** Returns the files that the currently applied changes edit, relative to the root. */
  edited(): ReadonlySet<string>;
  /** Marks these changes as decided: a kill leaves them in the project. */
  decided(ids: readonly string[]): Promise<void>;
  /** Takes out what is not decided, however the run ended, and deletes the copies. */
  close(): Promise<void>;
}

/** What a workspace is opened for; `warn` is also called if git cannot read the repository. */
interface WorkspaceOptions extends Omit<ChangesOptions, 'root'> {
  /** Called with the folders of all copies before the newest of them exists. */
  readonly onCopy: (folders: readonly string[]) => void;
}

export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { contents } = options;
  const project = realpathSync(options.project);
  const [root, unread] = await Promise.all([rootOf(project), whyNoRules(project)]);
  if (unread !== null)
    options.warn(`git cannot read the repository, so files that it ignores may be changed: ${unread}`);
  const place = path.relative(root, project);
  const copies: (Promise<ProjectCopy> | undefined)[] = [];
  /** The files that the changes applied at its last update edit, for each copy that has been updated. */
  const editedIn = new Map<number, ReadonlySet<string>>();
  const folders = new Set<string>();
  const announce = (folder: string) => {
    folders.add(folder);
    options.onCopy([...folders]);
  };
  const opened = (n: number) => (copies[n] ??= openCopy({ root, project, n, announce }));
  const changes = new AppliedChanges({ ...options, root, project });
  const placeIn = ({ tree, folder }: ProjectCopy): Omit<AgentPlace, 'edited'> => ({
    cwd: path.join(tree, place),
    folder,
    ...pathsBetween(options.project, root, tree),
  });
  const outside = async (entries: readonly Entry[], since: number) => {
    const changed = [...(await changedOutsideGit(root, entries, since))];
    return changed.filter((file) => !changes.everEdited.has(file));
  };
  const changeOf = (id: string, edits: Change['edits']): Change => ({ id, edits, folders: [] });
  return {
    root,
    prepare: async (count = 1) => {
      // If a copy could not be made, perhaps because a file of the project changed meanwhile, it is made anew when it is needed.
      const making = Array.from({ length: count }, (_, n) => opened(n).catch(() => (copies[n] = undefined)));
      await Promise.all(making);
    },
    ready: async (n = 0, { isTried } = { isTried: false }) => {
      const copy = await opened(n);
      await (isTried ? copy.reset() : copy.refresh());
      const edited = (isTried ? editedIn.get(n) : undefined) ?? new Set(changes.edited());
      editedIn.set(n, edited);
      return { ...placeIn(copy), edited };
    },
    isMade: (n) => editedIn.has(n),
    readyClean: async (since) => {
      const made = await opened(0);
      editedIn.delete(0);
      await made.refresh(async (entries) => {
        const left = new Set(await outside(entries, since));
        return entries.filter((one) => !isLocal(one) && !left.has(one.path));
      });
      return { ...placeIn(made), edited: new Set(changes.edited()) };
    },
    changedOutsideGit: async (since) => outside(await listProject(root), since),
    edit: (id, edits) => {
      const source = projectTree(root);
      const undone = edits.map((edit) => ({ ...edit, after: edit.before }));
      const trees = { before: treeOf(source, undone, contents), after: treeOf(source, edits, contents) };
      return { change: changeOf(id, edits), ignored: [], refused: null, changedInProject: [], ...trees };
    },
    collect: async (id, n = 0) => {
      const made = await opened(n);
      const { edits, ignored, refused } = await collect(root, made, contents).catch((error: unknown) => ({
        edits: [],
        ignored: [],
        refused: `its change could not be read: ${reasonOf(error)}`,
      }));
      const source = folderTree(made.base);
      const before = treeOf(source, [], contents);
      const after = treeOf(source, edits, contents);
      const change = edits.length > 0 ? changeOf(id, edits) : null;
      const changedInProject = await changedSince(root, made, changes.everEdited).catch(() => []);
      return { change, ignored, refused, changedInProject, before, after };
    },
    apply: (change) => changes.apply(change),
    without: (ids) => changes.moveTo(changes.builtOn(ids)),
    revert: (ids) => changes.revert(ids),
    applied: () => changes.applied().map(({ id }) => id),
    edited: () => changes.edited(),
    decided: (ids) => changes.decided(ids),
    close: async () => {
      await changes.revertUndecided();
      for (const made of await Promise.allSettled(copies.flatMap((one) => one ?? [])))
        if (made.status === 'fulfilled') await made.value.remove();
    },
  };
}

async function openCopy(place: CopyFolder): Promise<ProjectCopy> {
  const folder = await makeCopyFolder(place);
  const copy = createCopy(place.root, folder);
  await copy.prepare();
  return copy;
}

function pathsBetween(project: string, root: string, tree: string): Pick<AgentPlace, 'toCopy' | 'toProject'> {
  // If the project is reached through a link, the root has two names.
  const named = path.resolve(project, path.relative(realpathSync(project), root));
  const names = [...new Set([root, named])].toSorted((a, b) => b.length - a.length);
  return {
    toCopy: (text) => names.reduce((sum, name) => replacePath(sum, name, tree), text),
    toProject: (text) => replacePath(text, tree, named),
  };
}

/** Returns the source files with these edits on top. */
function treeOf(source: Tree, edits: Change['edits'], contents: Contents): Tree {
  const edited = new Map(edits.map((one) => [one.path, one.after]));
  return {
    paths: async () => {
      const kept = (await source.paths()).filter((file) => !edited.has(file));
      return [...kept, ...[...edited].flatMap(([file, after]) => (after ? [file] : []))];
    },
    read: async (paths) => {
      const found = new Map(await source.read(paths.filter((file) => !edited.has(file))));
      for (const file of paths) {
        const after = edited.get(file);
        if (after?.kind === 'file') found.set(file, await contents.get(after.hash));
      }
      return found;
    },
  };
}

/** Replaces a path in a text, wherever it stands alone or continues with a separator. */
function replacePath(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  return text.replaceAll(new RegExp(`(?<![\\w.-])${escapeStringRegexp(from)}(?![\\w.-])`, 'g'), () => to);
}
