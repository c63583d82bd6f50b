import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeFileAtomic } from '../write-file-atomic.js';
import { type Copied, mirror, type Source } from './mirror.js';
import { removeCopy } from './copy-folder.js';
import { isInside } from './is-inside.js';
import { git } from '../git/git.js';
import { type Entry, listProject } from './project-files.js';

/** A copy of a project in which an agent works, at its own path. */
export interface ProjectCopy {
  /** The folder that contains everything; it is deleted as a whole. */
  readonly folder: string;
  /** The copy of the root. */
  readonly tree: string;
  /** The source files as they were when the copy was made, out of the agent's reach. */
  readonly base: string;
  /** The file stats at the time when the files of `tree` were copied. */
  readonly copied: Copied;
  /** What the project contained. */
  readonly entries: readonly Entry[];
  /** Starts making it before its agent needs it. */
  prepare(): Promise<void>;
  /** Updates it to the current state of the project for an agent, and discards what an earlier agent did to it. */
  refresh(): Promise<void>;
  remove(): Promise<void>;
}

/** A larger ignored folder is data rather than code that the work needs. */
const MAX_IGNORED = { files: 50_000, bytes: 500 * 1024 * 1024 };

/** Creates a copy that contains nothing until `prepare` or `refresh` is called. */
export function createCopy(root: string, folder: string): ProjectCopy {
  const tree = path.join(folder, 'copy', path.basename(root) || 'project');
  const base = path.join(folder, 'base');
  const retarget = (link: string, from: Source) => linkIn({ link, at: from.path, root, tree });
  const known = { base: new Map() as Copied, tree: new Map() as Copied };
  let entries: readonly Entry[] = [];
  // What the copy contains, as long as no agent has worked in it.
  let untouched: { base: readonly Entry[]; tree: readonly Entry[]; repository: string } | null = null;
  const prepare = async () => {
    const before = untouched;
    untouched = null;
    entries = withoutLarge(await listProject(root));
    const source = entries.filter(({ area }) => area === 'source').map((one) => ({ ...one, root }));
    const others = entries.filter(({ area }) => area !== 'source').map((one) => ({ ...one, root }));
    const [toBase, toTree] = [
      { copied: known.base, held: before?.base, retarget: (link: string) => link },
      { copied: known.tree, held: before?.tree, retarget },
    ];
    const inBase = await mirror(source, base, toBase);
    const inTree = await mirror([...inBase, ...others], tree, toTree);
    const repository = await makeRepository(root, tree, before?.repository);
    untouched = { base: inBase, tree: inTree, repository };
  };
  return {
    folder,
    tree,
    base,
    copied: known.tree,
    get entries() {
      return entries;
    },
    prepare,
    refresh: async () => {
      await prepare();
      untouched = null;
    },
    remove: () => removeCopy(folder),
  };
}

/** Returns the target of a link in the copy: the same place in the copy, or the original target if it is outside of the project. */
function linkIn({ link, at, root, tree }: { link: string; at: string; root: string; tree: string }): string {
  const target = path.resolve(path.dirname(path.join(root, at)), link);
  if (!isInside(root, target)) return target;
  return path.isAbsolute(link) ? path.join(tree, path.relative(root, target)) : link;
}

/** Removes large ignored folders from the list. */
function withoutLarge(entries: readonly Entry[]): Entry[] {
  const ignored = entries.filter(({ area }) => area === 'ignored');
  const tops = new Map<string, { files: number; bytes: number }>();
  const isFolder = new Set(ignored.filter(({ kind }) => kind === 'folder').map((one) => one.path));
  for (const { path: file, stat, kind } of ignored) {
    const top = topIn(isFolder, file);
    const sum = tops.get(top) ?? { files: 0, bytes: 0 };
    tops.set(top, { files: sum.files + 1, bytes: sum.bytes + (kind === 'file' ? stat.size : 0) });
  }
  const large = [...tops].filter(
    ([, { files, bytes }]) => files > MAX_IGNORED.files || bytes > MAX_IGNORED.bytes,
  );
  const isLarge = (file: string) => large.some(([top]) => file === top || file.startsWith(`${top}/`));
  return entries.filter((one) => !isLarge(one.path));
}

function topIn(folders: ReadonlySet<string>, file: string): string {
  const parts = file.split('/');
  const at = parts.findIndex((_, index) => folders.has(parts.slice(0, index + 1).join('/')));
  return at === -1 ? file : parts.slice(0, at + 1).join('/');
}

/**
 * Gives the copy its own repository, created anew each time, so that whatever an agent commits, resets or deletes there has no effect. If the
 * project has a repository, the copy reads its objects, so that log, blame and diff show the same as in the project; it has no remotes, hooks or
 * settings. Returns a description of what it was made from; if that equals `before`, nothing is done.
 */
async function makeRepository(root: string, tree: string, before: string | undefined): Promise<string> {
  const [head, objects, branch] = existsSync(path.join(root, '.git'))
    ? await Promise.all([
        git(root, ['rev-parse', '--verify', 'HEAD']),
        git(root, ['rev-parse', '--path-format=absolute', '--git-path', 'objects']),
        git(root, ['symbolic-ref', '--short', 'HEAD']),
      ])
    : [];
  const from = JSON.stringify([head, objects, branch]);
  if (from === before) return from;
  await rm(path.join(tree, '.git'), { recursive: true, force: true });
  const init = ['init', '--quiet', '--template=', `--initial-branch=${branch?.trim() || 'main'}`];
  if ((await git(tree, init)) === null || !head || !objects) return from;
  await mkdir(path.join(tree, '.git', 'objects', 'info'), { recursive: true });
  await writeFileAtomic(path.join(tree, '.git', 'objects', 'info', 'alternates'), objects);
  await git(tree, ['update-ref', 'HEAD', head.trim()]);
  await git(tree, ['read-tree', 'HEAD']);
  return from;
}
