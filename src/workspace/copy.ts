import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { writeFileAtomic } from '../write-file-atomic.js';
import { type Copied, mirror, type Source } from './mirror.js';
import { removeCopy } from './copy-folder.js';
import { isInside } from './is-inside.js';
import { git, withoutGit } from '../git.js';
import { type Entry, listProject } from './project-files.js';

/** A copy of a project in which an agent works, on a path of its own. */
export interface ProjectCopy {
  /** The folder that holds all of it: thrown away as a whole. */
  readonly folder: string;
  /** The copy of the root. */
  readonly tree: string;
  /** The source files as they were when the copy was made, out of the agent's way. */
  readonly base: string;
  /** How the files of `tree` looked when they were copied. */
  readonly copied: Copied;
  /** What the project held. */
  readonly entries: readonly Entry[];
  /** Begins it, before its agent is there. */
  prepare(): Promise<void>;
  /** Brings it up to the project as it is now, for an agent; what another one did to it is gone. */
  refresh(): Promise<void>;
  remove(): Promise<void>;
}

/** An ignored folder of more than this is data, not code that the work needs. */
const MAX_IGNORED = { files: 50_000, bytes: 500 * 1024 * 1024 };

/** A copy that is not made yet: `prepare` or `refresh` makes it. */
export function createCopy(root: string, folder: string): ProjectCopy {
  const tree = path.join(folder, 'copy', path.basename(root) || 'project');
  const base = path.join(folder, 'base');
  const retarget = (link: string, from: Source) => linkIn({ link, at: from.path, root, tree });
  const known = { base: new Map() as Copied, tree: new Map() as Copied };
  let entries: readonly Entry[] = [];
  // What it holds, while no agent was in it.
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

/** Where a link of the copy leads: to the same place in the copy, or, outside of the project, to where it led. */
function linkIn({ link, at, root, tree }: { link: string; at: string; root: string; tree: string }): string {
  const target = path.resolve(path.dirname(path.join(root, at)), link);
  if (!isInside(root, target)) return target;
  return path.isAbsolute(link) ? path.join(tree, path.relative(root, target)) : link;
}

/** Without ignored folders that are large. */
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
 * Gives the copy a repository of its own, made anew each time: what an agent commits, resets or deletes there is nobody's. Where the project has
 * one, the copy reads the project's objects, so that log, blame and diff tell what they tell at home; it has no remotes, hooks or settings. Gives
 * what it was made from; where that is as `before`, nothing is done.
 */
async function makeRepository(root: string, tree: string, before: string | undefined): Promise<string> {
  const run = async (...args: string[]) =>
    execa('git', args, {
      cwd: tree,
      env: withoutGit(process.env),
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
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
  const made = await run('init', '--quiet', '--template=', `--initial-branch=${branch?.trim() || 'main'}`);
  if (made.exitCode !== 0 || !head || !objects) return from;
  await mkdir(path.join(tree, '.git', 'objects', 'info'), { recursive: true });
  await writeFileAtomic(path.join(tree, '.git', 'objects', 'info', 'alternates'), objects);
  await run('update-ref', 'HEAD', head.trim());
  await run('read-tree', 'HEAD');
  return from;
}
