import { realpathSync } from 'node:fs';
import path from 'node:path';
import { type Change, type Contents, keepChange } from './change.js';
import { collect, type Collected } from './collect.js';
import { createCopy, makeCopyFolder, type ProjectCopy } from './copy.js';
import { changesPackages, installOf } from './install.js';
import { closeJournal, type Journal, writeJournal } from './journal.js';
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
  /** Writes a change into the project. Until `decided`, a kill means that it is taken out again. */
  apply(change: Change): Promise<Applied>;
  /** Takes changes out, or puts them back, all of them in one step. */
  move(changes: readonly Change[], to: 'out' | 'in'): Promise<Written>;
  /** Proven changes are about to be moved; a kill from now on means that they are put back. */
  keeping(changes: readonly Change[]): Promise<void>;
  /** What was in question is as it should be. */
  decided(): Promise<void>;
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
  const { contents, runId } = options;
  const project = realpathSync(options.project);
  const root = await rootOf(project);
  const place = path.relative(root, project);
  let copy: Promise<ProjectCopy> | null = null;
  const opened = () => (copy ??= openCopy(root, options));
  const journal = async (purpose: Journal['purpose'], changes: readonly Change[]) =>
    writeJournal(project, await journalOf({ runId, root, changes, purpose, contents }));
  const move: Workspace['move'] = async (changes, to) => {
    const moved = await writeFiles(root, planOf(changes, to), contents);
    const isInstall = moved.written.length > 0 && (await changesPackages(editsOf(changes), contents));
    if (isInstall) await install(options, root);
    return moved;
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
    apply: (change) => apply({ ...options, root, project, move, journal }, change),
    move,
    keeping: (changes) => journal('put-back', changes),
    decided: () => closeJournal(project),
    close: async () => (copy === null ? undefined : (await copy.catch(() => null))?.remove()),
  };
}

interface Applying extends Pick<WorkspaceOptions, 'contents' | 'runDir' | 'project'> {
  readonly root: string;
  readonly move: Workspace['move'];
  readonly journal: (purpose: Journal['purpose'], changes: readonly Change[]) => Promise<void>;
}

async function apply({ root, project, move, ...by }: Applying, change: Change): Promise<Applied> {
  let merged = change;
  try {
    const { edits, conflicts } = await mergeOnto(root, change.edits, by.contents);
    if (conflicts.length > 0) return { kind: 'conflict', files: conflicts };
    const added = edits.flatMap(({ path: file, after }) => (after ? [file] : []));
    merged = { ...change, edits, folders: missingFolders(root, added) };
    await keepChange(by.runDir, merged);
    await by.journal('take-out', [merged]);
    const { leftAlone } = await move([merged], 'in');
    if (leftAlone.length === 0) return { kind: 'applied', change: merged };
    await move([merged], 'out');
    await closeJournal(project);
    return { kind: 'conflict', files: leftAlone };
  } catch (error) {
    await move([merged], 'out');
    await closeJournal(project);
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

async function openCopy(root: string, { onCopy }: WorkspaceOptions): Promise<ProjectCopy> {
  const folder = await makeCopyFolder(root);
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

/** What becomes of each path when all of the changes, the oldest first, are taken out or put back. */
function planOf(changes: readonly Change[], to: 'out' | 'in'): { files: PlannedFile[]; folders: string[] } {
  const files = new Map<string, PlannedFile>();
  for (const { path: file, before, after } of editsOf(changes)) {
    const earlier = files.get(file);
    const goal = to === 'in' ? after : earlier ? earlier.goal : before;
    files.set(file, { path: file, known: [...(earlier?.known ?? []), before, after], goal });
  }
  return { files: [...files.values()], folders: changes.flatMap(({ folders }) => folders) };
}

interface JournalRequest {
  runId: string;
  root: string;
  changes: readonly Change[];
  purpose: Journal['purpose'];
  contents: Contents;
}

/** What whoever finds the journal is to do with these changes. */
export async function journalOf({ changes, contents, ...rest }: JournalRequest): Promise<Journal> {
  return {
    ...rest,
    ...planOf(changes, rest.purpose === 'put-back' ? 'in' : 'out'),
    changes: changes.map(({ id }) => id),
    install: await changesPackages(editsOf(changes), contents),
  };
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
      const found = new Map(await source.read(paths.filter((file) => !edited.has(file))));
      for (const file of paths) {
        const after = edited.get(file);
        if (after?.kind === 'file') found.set(file, await contents.get(after.hash));
      }
      return found;
    },
  };
}
