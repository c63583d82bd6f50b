import { realpathSync } from 'node:fs';
import path from 'node:path';
import { type Change, type Contents, keepChange } from './change.js';
import { collect, type Collected } from './collect.js';
import { copyFolder, createCopy, type ProjectCopy } from './copy.js';
import { changesPackages, installOf } from './install.js';
import { closeJournal, writeJournal } from './journal.js';
import { mergeOnto } from './merge.js';
import { rootOf } from './project-files.js';
import { folderTree, type Tree } from './tree.js';
import { missingFolders, type PlannedFile, writeFiles, type Written } from './write-files.js';

/** The copy, ready for an agent. */
export interface AgentPlace {
  /** The project's folder in the copy: the agent's working directory. */
  readonly cwd: string;
  /** The folder around the whole copy, in which nobody else has a business. */
  readonly folder: string;
  /** A text in which paths of the project are paths of the copy. */
  readonly toCopy: (text: string) => string;
  /** The other way round, for what an agent says. */
  readonly toProject: (text: string) => string;
  /** Ignored folders that were left out of the copy since they are large. */
  readonly leftOut: readonly string[];
}

/** What an agent changed, ready to be judged and applied. */
export interface Work {
  /** Null where it changed nothing that can be a fix. */
  readonly change: Change | null;
  readonly ignored: readonly string[];
  readonly refused: string | null;
  readonly before: Tree;
  readonly after: Tree;
}

/** What came of applying a change; `conflict` names the files that somebody else changed in the same lines meanwhile. */
export type Applied =
  | { readonly kind: 'applied'; readonly change: Change }
  /** It could not be written: a full disk, say. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

/**
 * The project's own tree, which changes only by patches under a journal, and the copy of it in which agents work (HN-1, HN-2).
 */
export interface Workspace {
  /** The folder that is copied: the top of the repository or workspace around the project, or the project. */
  readonly root: string;
  /** Begins to make the copy, so that it is there when the first agent is. */
  prepare(): void;
  /** The copy, brought up to the project as it is now. Rejects where it cannot be made (a full disk). */
  ready(): Promise<AgentPlace>;
  /** What the agent changed in it. `id` names the change within the run. */
  collect(id: string): Promise<Work>;
  /** Writes a change into the project, on top of those that are there. Until it is decided, a kill means that it is taken out again. */
  apply(change: Change): Promise<Applied>;
  /** Brings the project to the state in which these changes, and those built on them, are out, and all others are in. */
  without(ids: readonly string[]): Promise<Written>;
  /** Takes changes out for good. Those built on them are applied anew; `lost` are those that could not be. */
  revert(ids: readonly string[]): Promise<Written & { readonly lost: readonly string[] }>;
  /** These changes stay: a kill means that they are in. */
  decided(ids: readonly string[]): Promise<void>;
  /** Throws the copy away. */
  close(): Promise<void>;
}

/** What a workspace is opened for. */
export interface WorkspaceOptions {
  readonly project: string;
  readonly runId: string;
  readonly contents: Contents;
  /** The run's folder, in which changes are kept. */
  readonly runDir: string;
  /** Told before the package manager's install runs in the project, and when it fails. */
  readonly warn: (message: string) => void;
  /** The folder of the copy, before anything is in it. */
  readonly onCopy: (folder: string) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** Opens the workspace of a run. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { contents, runDir, runId } = options;
  const project = realpathSync(options.project);
  const root = await rootOf(project);
  const place = path.relative(root, project);
  let copy: Promise<ProjectCopy> | null = null;
  const opened = () => (copy ??= openCopy(root, options));
  /** All changes that are in the project, or out of it for a while, the oldest first. */
  let applied: readonly Change[] = [];
  const kept = new Set<string>();
  let out: ReadonlySet<string> = new Set();
  const openIds = () => applied.map(({ id }) => id).filter((id) => !kept.has(id));
  const settle = async () => {
    const open = builtOn(applied, openIds());
    if (open.size === 0 && out.size === 0) return closeJournal(project);
    const changes = applied.filter(({ id }) => (open.size > 0 ? open : out).has(id)).map(({ id }) => id);
    const install = await changesPackages(editsOf(applied), contents);
    const purpose = open.size > 0 ? 'take-out' : 'put-back';
    await writeJournal(project, { runId, root, changes, purpose, ...planOf(applied, open), install });
  };
  const move = async (goal: ReadonlySet<string>): Promise<Written> => {
    const moved = applied.filter(({ id }) => goal.has(id) !== out.has(id));
    const paths = new Set(editsOf(moved).map((edit) => edit.path));
    const { files, folders } = planOf(applied, goal);
    out = new Set([...out, ...goal]);
    await settle();
    const plan = { files: files.filter((file) => paths.has(file.path)), folders };
    const written = await writeFiles(root, plan, contents);
    const isInstall = written.written.length > 0 && (await changesPackages(editsOf(moved), contents));
    if (isInstall) await install(options, root);
    out = goal;
    await settle();
    return written;
  };
  const forget = (gone: ReadonlySet<string>) => {
    applied = applied.filter(({ id }) => !gone.has(id));
    out = new Set();
    for (const id of gone) kept.delete(id);
    return settle();
  };
  const apply = async (change: Change): Promise<Applied> => {
    let merged = change;
    const undone = new Set([change.id]);
    try {
      const { edits, conflicts } = await mergeOnto(root, change.edits, contents);
      if (conflicts.length > 0) return { kind: 'conflict', files: conflicts };
      const added = edits.flatMap(({ path: file, after }) => (after ? [file] : []));
      merged = { ...change, edits, folders: missingFolders(root, added) };
      await keepChange(runDir, merged);
      applied = [...applied, merged];
      out = undone;
      const { leftAlone } = await move(new Set());
      if (leftAlone.length === 0) return { kind: 'applied', change: merged };
      await move(undone);
      await forget(undone);
      return { kind: 'conflict', files: leftAlone };
    } catch (error) {
      // It may have been written in part.
      out = new Set();
      await move(undone);
      await forget(undone);
      return { kind: 'failed', reason: reasonOf(error) };
    }
  };
  return {
    root,
    prepare: () => void opened().catch(() => undefined),
    ready: async () => {
      const made = await opened();
      await made.refresh();
      const { tree, leftOut } = made;
      return {
        cwd: path.join(tree, place),
        folder: made.folder,
        leftOut,
        ...pathsBetween(options.project, root, tree),
      };
    },
    collect: async (id) => {
      const made = await opened();
      const { edits, ignored, refused } = await collect(root, made, contents).catch(unreadable);
      const change = { id, root: path.relative(project, root).replaceAll(path.sep, '/'), edits, folders: [] };
      const before = treeOf(made.base, [], contents);
      const after = treeOf(made.base, edits, contents);
      return { change: edits.length > 0 ? change : null, ignored, refused, before, after };
    },
    apply,
    without: (ids) => move(builtOn(applied, ids)),
    revert: async (ids) => {
      const gone = builtOn(applied, ids);
      const again = applied.filter(({ id }) => gone.has(id) && !ids.includes(id));
      for (const id of gone) kept.delete(id);
      const written = await move(gone);
      await forget(gone);
      const lost: string[] = [];
      for (const change of again) if ((await apply(change)).kind !== 'applied') lost.push(change.id);
      return { ...written, lost };
    },
    decided: async (ids) => {
      for (const id of ids) kept.add(id);
      await settle();
    },
    close: async () => (copy === null ? undefined : (await copy.catch(() => null))?.remove()),
  };
}

async function openCopy(root: string, { runId, onCopy }: WorkspaceOptions): Promise<ProjectCopy> {
  const folder = await copyFolder(root, runId);
  await onCopy(folder);
  const copy = createCopy(root, folder);
  await copy.refresh();
  return copy;
}

async function install({ project, warn, signal }: WorkspaceOptions, root: string): Promise<void> {
  const { command, ...install } = await installOf(project, root);
  warn(`The packages that the project asks for changed: running ${command} in it`);
  const failed = await install.run(signal);
  if (failed !== null) warn(`${command} failed: ${failed.trim().slice(-500)}`);
}

function editsOf(changes: readonly Change[]) {
  return changes.flatMap(({ edits }) => edits);
}

function unreadable(error: unknown): Collected {
  return { edits: [], ignored: [], refused: `its change could not be read: ${reasonOf(error)}` };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** These changes, and the later ones that edit the same files, and so on. */
function builtOn(changes: readonly Change[], ids: Iterable<string>): ReadonlySet<string> {
  const found = new Set(ids);
  const paths = new Set<string>();
  for (const { id, edits } of changes) {
    if (edits.some((edit) => paths.has(edit.path))) found.add(id);
    if (found.has(id)) for (const edit of edits) paths.add(edit.path);
  }
  return found;
}

/** What becomes of each path when those changes, the oldest first, are out and the others in. A change that is out lies over those that are in. */
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

function pathsBetween(project: string, root: string, tree: string): Pick<AgentPlace, 'toCopy' | 'toProject'> {
  // The project may be reached through a link: the root has two names then.
  const named = path.resolve(project, path.relative(realpathSync(project), root));
  const names = [...new Set([root, named])].toSorted((a, b) => b.length - a.length);
  return {
    toCopy: (text) => names.reduce((sum, name) => replacePath(sum, name, tree), text),
    toProject: (text) => replacePath(text, tree, named),
  };
}

/** A path that ends there, or goes on with a separator. */
function replacePath(text: string, from: string, to: string): string {
  const escaped = from.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
  return text.replaceAll(new RegExp(`(?<![\\w.-])${escaped}(?![\\w.-])`, 'g'), () => to);
}

/** The source files as they were, with the edits over them. */
function treeOf(base: string, edits: Change['edits'], contents: Contents): Tree {
  const edited = new Map(edits.map((one) => [one.path, one.after]));
  const source = folderTree(base);
  return {
    paths: async () => {
      const kept = (await source.paths()).filter((file) => !edited.has(file));
      return [...kept, ...[...edited].flatMap(([file, after]) => (after ? [file] : []))];
    },
    read: async (paths) => {
      const texts = new Map(await source.read(paths.filter((file) => !edited.has(file))));
      for (const file of paths) {
        const after = edited.get(file);
        if (after?.kind === 'file') texts.set(file, (await contents.get(after.hash)).toString('utf8'));
      }
      return texts;
    },
  };
}
