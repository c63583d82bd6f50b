import { realpathSync } from 'node:fs';
import path from 'node:path';
import { appliedChanges } from './applied-changes.js';
import type { Change, Contents } from './change.js';
import { collect, type Collected } from './collect.js';
import { createCopy, type ProjectCopy } from './copy.js';
import { type CopyFolder, makeCopyFolder } from './copy-folder.js';
import { rootOf } from './project-files.js';
import { replacePath } from './replace-path.js';
import { folderTree, projectTree, type Tree } from './tree.js';
import type { Written } from './write-files.js';
import { reasonOf } from '../reason-of.js';

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
 * The project's own tree, which changes only by patches under a journal, and the copies of it in which agents work (HN-1, HN-2).
 */
export interface Workspace {
  /** The folder that is copied: the top of the repository or workspace around the project, or the project. */
  readonly root: string;
  /** Begins to make so many copies, or the first one, so that they are there when the agents are. */
  prepare(count?: number): void;
  /**
   * A copy, brought up to the project as it is now; by its number, from 0, since agents that work at the same time have one each. Rejects where
   * it cannot be made (a full disk).
   */
  ready(copy?: number): Promise<AgentPlace>;
  /** A change whose edits are known without an agent's work in a copy, as `collect` gives one. Their contents are kept already. */
  edit(id: string, edits: Change['edits']): Work & { readonly change: Change };
  /** What the agent changed in it. `id` names the change within the run. */
  collect(id: string, copy?: number): Promise<Work>;
  /** Writes a change into the project, on top of those that are there. Until it is decided, a kill means that it is taken out again. */
  apply(change: Change): Promise<Applied>;
  /** Brings the project to the state in which these changes, and those built on them, are out, and all others are in. */
  without(ids: readonly string[]): Promise<Written>;
  /** Takes changes out for good. Those built on them are applied anew; `lost` are those that could not be. */
  revert(ids: readonly string[]): Promise<Written & { readonly lost: readonly string[] }>;
  /** The files that changes which are in the project edit, from the root. */
  edited(): ReadonlySet<string>;
  /** These changes stay: a kill means that they are in. */
  decided(ids: readonly string[]): Promise<void>;
  /** Throws the copies away. */
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
  /** The folders of all copies, before the last of them is there. */
  readonly onCopy: (folders: readonly string[]) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** Opens the workspace of a run. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { contents } = options;
  const project = realpathSync(options.project);
  const root = await rootOf(project);
  const place = path.relative(root, project);
  const copies: (Promise<ProjectCopy> | undefined)[] = [];
  const folders = new Set<string>();
  const announce = (folder: string) => {
    folders.add(folder);
    return options.onCopy([...folders]);
  };
  const opened = (n: number) => (copies[n] ??= openCopy({ root, project, n, announce }));
  const changes = appliedChanges(options, { root, project });
  const up = path.relative(project, root).replaceAll(path.sep, '/');
  const changeOf = (id: string, edits: Change['edits']): Change => ({ id, root: up, edits, folders: [] });
  return {
    root,
    prepare: (count = 1) => {
      // One that could not be made, while a file of the project changed say, is made anew when it is asked for.
      for (let n = 0; n < count; n += 1) opened(n).catch(() => (copies[n] = undefined));
    },
    ready: async (n = 0) => {
      const made = await opened(n);
      await made.refresh();
      const { tree } = made;
      return {
        cwd: path.join(tree, place),
        folder: made.folder,
        ...pathsBetween(options.project, root, tree),
      };
    },
    edit: (id, edits) => {
      const source = projectTree(root);
      const undone = edits.map((edit) => ({ ...edit, after: edit.before }));
      const trees = { before: treeOf(source, undone, contents), after: treeOf(source, edits, contents) };
      return { change: changeOf(id, edits), ignored: [], refused: null, ...trees };
    },
    collect: async (id, n = 0) => {
      const made = await opened(n);
      const { edits, ignored, refused } = await collect(root, made, contents).catch(unreadable);
      const source = folderTree(made.base);
      const before = treeOf(source, [], contents);
      const after = treeOf(source, edits, contents);
      return { change: edits.length > 0 ? changeOf(id, edits) : null, ignored, refused, before, after };
    },
    ...changes,
    close: async () => {
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

function unreadable(error: unknown): Collected {
  return { edits: [], ignored: [], refused: `its change could not be read: ${reasonOf(error)}` };
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

/** The source files as they were, with the edits over them. */
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
