import { constants, existsSync, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { access, chmod, copyFile, mkdir, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pMap from 'p-map';
import { isInProgramFolder } from '../agents/command-files.js';
import { git } from './git.js';
import { isInside } from '../paths.js';
import type { Contents } from './change.js';
import { removeCopy } from './copy-folder.js';
import { contentOf, type FileEdit, type FileState, isSame, kindOf, stateOf } from './file-state.js';
import { type Entry, isWritable, listAll, listProject, unwritableAmong } from './project-files.js';

/** A copy of a project in which an agent works, at its own path. */
export interface ProjectCopy {
  /** The folder that contains everything; it is deleted as a whole. */
  readonly folder: string;
  /** The copy of the root. */
  readonly tree: string;
  /** The source files as they were when the copy was made, out of the agent's reach. */
  readonly base: string;
  /** The file stats at the time when the files of `tree` were copied. */
  readonly copyStats: CopyStats;
  readonly entries: readonly Entry[];
  /** Fills it before its agent needs it. */
  prepare(): Promise<void>;
  /** Updates it to the current state of the project, or to the chosen entries of that, and discards all changes in it. */
  refresh(choose?: Choose): Promise<void>;
  /** Discards all changes since it was last updated, without reading the source files of the project. */
  reset(): Promise<void>;
  remove(): Promise<void>;
}

/** Chooses the entries of a project that a copy has. */
type Choose = (entries: readonly Entry[]) => Promise<readonly Entry[]>;

/** A larger ignored folder is taken for data that the agent does not need. */
const MAX_IGNORED = { files: 50_000, bytes: 500 * 1024 * 1024 };

/** Creates a copy that contains nothing until `prepare` or `refresh` is called. */
export function createCopy(root: string, folder: string): ProjectCopy {
  const tree = path.join(folder, 'copy', path.basename(root) || 'project');
  const base = path.join(folder, 'base');
  const retarget = (link: string, from: Source) => linkIn({ link, file: from.path, root, tree });
  const copyStats = { base: new Map() as CopyStats, tree: new Map() as CopyStats };
  let entries: readonly Entry[] = [];
  let sources: readonly Source[] = [];
  // The contents of the copy, as long as no agent has worked in it.
  let untouched: { base: readonly Source[]; tree: readonly Source[]; repository: string } | null = null;
  const prepare = async (choose?: Choose) => {
    const before = untouched;
    untouched = null;
    const all = await listProject(root);
    entries = withoutLarge(choose ? await choose(all) : all);
    const inProject = entries.map((entry) => ({ ...entry, root }));
    const inBase = await mirror(
      inProject.filter(({ area }) => area === 'source'),
      base,
      { copyStats: copyStats.base, existing: before?.base, retarget: (link) => link },
    );
    sources = [...inBase, ...inProject.filter(({ area }) => area !== 'source')];
    const inTree = await mirror(sources, tree, {
      copyStats: copyStats.tree,
      existing: before?.tree,
      retarget,
    });
    const repository = await makeRepository(root, tree, before?.repository);
    untouched = { base: inBase, tree: inTree, repository };
  };
  return {
    folder,
    tree,
    base,
    copyStats: copyStats.tree,
    get entries() {
      return entries;
    },
    prepare: () => prepare(),
    refresh: async (choose) => {
      await prepare(choose);
      untouched = null;
    },
    reset: async () => {
      untouched = null;
      await mirror(sources, tree, { copyStats: copyStats.tree, retarget });
      await makeRepository(root, tree, undefined);
    },
    remove: () => removeCopy(folder),
  };
}

/** Returns the target of a link in the copy: the same file in the copy, or the original target if it is outside of the project. */
function linkIn({
  link,
  file,
  root,
  tree,
}: {
  link: string;
  file: string;
  root: string;
  tree: string;
}): string {
  const target = path.resolve(path.dirname(path.join(root, file)), link);
  if (!isInside(root, target)) return target;
  return path.isAbsolute(link) ? path.join(tree, path.relative(root, target)) : link;
}

function withoutLarge(entries: readonly Entry[]): Entry[] {
  const ignored = entries.filter(({ area }) => area === 'ignored');
  const tops = new Map<string, { files: number; bytes: number }>();
  const folders = new Set(ignored.filter(({ kind }) => kind === 'folder').map((entry) => entry.path));
  for (const { path: file, stat, kind } of ignored) {
    const top = topIn(folders, file);
    const sum = tops.get(top) ?? { files: 0, bytes: 0 };
    tops.set(top, { files: sum.files + 1, bytes: sum.bytes + (kind === 'file' ? stat.size : 0) });
  }
  const large = [...tops].filter(
    ([, { files, bytes }]) => files > MAX_IGNORED.files || bytes > MAX_IGNORED.bytes,
  );
  const isLarge = (file: string) => large.some(([top]) => file === top || file.startsWith(`${top}/`));
  return entries.filter((entry) => !isLarge(entry.path));
}

/** Returns the topmost of these folders that contains a file, or the file itself. */
function topIn(folders: ReadonlySet<string>, file: string): string {
  const parts = file.split('/');
  const at = parts.findIndex((_, index) => folders.has(parts.slice(0, index + 1).join('/')));
  return at === -1 ? file : parts.slice(0, at + 1).join('/');
}

/**
 * Gives the copy its own repository, created anew each time, so that an agent's commits, resets and deletions there have no effect. It reads the
 * objects of the project's repository, so that log, blame and diff show the same as in the project, and has no remotes, hooks or settings.
 * Returns a description of the project's repository; if that equals `before`, nothing is done.
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
  await writeFile(path.join(tree, '.git', 'objects', 'info', 'alternates'), objects);
  await git(tree, ['update-ref', 'HEAD', head.trim()]);
  await git(tree, ['read-tree', 'HEAD']);
  return from;
}

/** An entry to mirror, and the folder that contains it. */
interface Source extends Pick<Entry, 'path' | 'kind' | 'stat'> {
  readonly root: string;
}

/** The stats of source and copy, by path, when the path was last copied. */
type CopyStats = Map<string, { readonly source: Stats; readonly copy: Stats }>;

/** Enough to keep Node's four threads busy, and few enough to keep the rest of the program responsive. */
const CONCURRENCY = 8;

interface MirrorOptions {
  /** The stats of files that were copied before; updated as files are copied. */
  readonly copyStats: CopyStats;
  /** Returns the target of a link in the copy. */
  readonly retarget: (link: string, from: Source) => string;
  /** The contents of the folder, if nobody can have touched it since it was filled. */
  readonly existing?: readonly Omit<Source, 'root'>[] | undefined;
}

/**
 * Fills a folder with exactly these entries: copies those that are new or have changed on either side since the last time, and removes all others.
 * Files are cloned if the file system supports it (`COPYFILE_FICLONE`), else copied. They are never linked, so that no write to the copy reaches
 * its source. Unreadable files, such as a cache file that was deleted after it was listed, are left out. Returns the entries in the folder.
 */
export async function mirror<Of extends Source>(
  sources: readonly Of[],
  target: string,
  { copyStats, retarget, existing }: MirrorOptions,
): Promise<Of[]> {
  await mkdir(target, { recursive: true });
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const before = new Map((existing ?? (await listAll(target))).map((entry) => [entry.path, entry]));
  const stale = [...before.values()].filter(({ path, kind }) => byPath.get(path)?.kind !== kind);
  await removeAll(target, stale);
  for (const { path: folder, stat } of sources.filter(({ kind }) => kind === 'folder')) {
    const now = before.get(folder);
    if (now?.kind !== 'folder') await mkdir(path.join(target, folder), { recursive: true });
    // Files are written to it and removed later, even if the source folder is not writable.
    const mode = (stat.mode & 0o777) | 0o700;
    if (now?.kind === 'folder' && (now.stat.mode & 0o777) !== mode)
      await chmod(path.join(target, folder), mode);
  }
  const isNew = ({ path, stat }: Of) => {
    const last = copyStats.get(path);
    const now = before.get(path);
    return !(now && last && isUntouched(last.source, stat) && isUntouched(last.copy, now.stat));
  };
  const stats = new Map<string, Stats>();
  const unreadable = new Set<string>();
  const files = sources.filter((source) => source.kind !== 'folder' && isNew(source));
  await pMap(
    files,
    async (source) => {
      const copy = path.join(target, source.path);
      if (before.get(source.path)?.kind === source.kind) await rm(copy, { force: true });
      if (!(await copyEntry(source, copy, retarget))) {
        unreadable.add(source.path);
        return;
      }
      const stat = lstatSync(copy);
      stats.set(source.path, stat);
      copyStats.set(source.path, { source: source.stat, copy: stat });
    },
    { concurrency: CONCURRENCY },
  );
  return sources
    .filter((source) => !unreadable.has(source.path))
    .map((source) => ({
      ...source,
      root: target,
      stat: stats.get(source.path) ?? before.get(source.path)?.stat ?? source.stat,
    }));
}

/** Returns false if the source cannot be read. */
async function copyEntry(
  source: Source,
  copy: string,
  retarget: (link: string, from: Source) => string,
): Promise<boolean> {
  const from = path.join(source.root, source.path);
  try {
    if (source.kind === 'link') await symlink(retarget(await readlink(from), source), copy);
    else {
      await copyFile(from, copy, constants.COPYFILE_FICLONE);
      // Build tools compare modification times.
      await utimes(copy, source.stat.atime, source.stat.mtime);
    }
    return true;
  } catch (error) {
    const isReadable = await access(from, constants.R_OK).then(
      () => true,
      () => false,
    );
    if (isReadable) throw error;
    return false;
  }
}

/** Removes these entries with everything below them, even folders that are not writable. */
async function removeAll(target: string, entries: readonly Omit<Source, 'root'>[]): Promise<void> {
  for (const { path: folder } of entries.filter(({ kind }) => kind === 'folder'))
    await chmod(path.join(target, folder), 0o700).catch(() => undefined);
  for (const { path: file } of entries) await rm(path.join(target, file), { recursive: true, force: true });
}

/** Whether a file was not written in between. No program can set the change time (ctime). */
function isUntouched(before: Stats, now: Stats): boolean {
  return (
    before.ctimeMs === now.ctimeMs &&
    before.mtimeMs === now.mtimeMs &&
    before.ino === now.ino &&
    before.size === now.size &&
    before.mode === now.mode
  );
}

/** An agent's changes in its copy. */
interface CollectResult {
  readonly edits: readonly FileEdit[];
  /** Paths that it wrote although git ignores them; they cannot be part of a fix. */
  readonly ignored: readonly string[];
  /** The reason why none of its changes can be a fix, or null. */
  readonly refused: string | null;
}

/** Returns the source files of the project that somebody other than self-heal changed since its copy was made, relative to the root, sorted. */
export async function changedSince(
  root: string,
  copy: ProjectCopy,
  ours: ReadonlySet<string>,
): Promise<string[]> {
  const sources = (entries: readonly Entry[]) =>
    byPath(entries.filter((entry) => entry.area === 'source' && isFile(entry)));
  const [before, now] = [sources(copy.entries), sources(await listProject(root))];
  const differs = (file: string) => {
    const [oldEntry, newEntry] = [before.get(file), now.get(file)];
    if (oldEntry && newEntry && isUntouched(oldEntry.stat, newEntry.stat)) return false;
    const [oldState, newState] = [stateOf(copy.base, file), stateOf(root, file)];
    return oldState === 'other' || newState === 'other' || !isSame(oldState, newState);
  };
  const all = new Set([...before.keys(), ...now.keys()]);
  return [...all].filter((file) => !ours.has(file) && differs(file)).toSorted();
}

const MAX_FILES = 1000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Compares a copy with its base, and stores the contents of files that differ. */
export async function collect(root: string, copy: ProjectCopy, contents: Contents): Promise<CollectResult> {
  const tree = byPath((await listAll(copy.tree)).filter(isFile));
  const base = byPath((await listAll(copy.base)).filter(isFile));
  const known = byPath(copy.entries);
  const isTouched = (file: string) => {
    const now = tree.get(file);
    const last = copy.copyStats.get(file);
    return !(now && last && isUntouched(last.copy, now.stat));
  };
  const old = [...base.keys()].filter(isTouched);
  const added = [...tree.keys()].filter(
    (file) => !base.has(file) && isTouched(file) && !isInProgramFolder(file),
  );
  const others = added.filter(isWritable);
  const unknown = others.filter((file) => !known.has(file));
  // Agent programs create folders with their own ignore rules, which only the copy has.
  const matches = await Promise.all([root, copy.tree].map((folder) => unwritableAmong(folder, unknown)));
  const hidden = new Set(matches.flatMap((paths) => [...paths]));
  const ignored = others.filter((file) => hidden.has(file) || known.has(file));
  const refused = whyNotRevertible([...old, ...added], known);
  if (refused !== null) return { edits: [], ignored, refused };
  const paths = [...old, ...unknown.filter((file) => !hidden.has(file))];
  const bytes = paths.reduce((sum, file) => sum + (tree.get(file)?.stat.size ?? 0), 0);
  if (paths.length > MAX_FILES || bytes > MAX_BYTES) {
    const size = `${paths.length} files, ${Math.ceil(bytes / 1024 / 1024)} MB`;
    return { edits: [], ignored, refused: `it changed ${size}, which is too much for a fix` };
  }
  const edits: FileEdit[] = [];
  for (const file of paths.toSorted()) {
    const before = await storeState(copy.base, base.get(file), { contents, like: null });
    const after = await storeState(copy.tree, tree.get(file), { contents, like: before });
    if (after?.kind === 'link' && leadsOut(copy.tree, file))
      return { edits: [], ignored, refused: `it created a link that points outside the project: ${file}` };
    if (!isSame(before, after)) edits.push({ path: file, before, after });
  }
  return { edits, ignored, refused: null };
}

function byPath(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

/** Returns the reason why a change cannot be reverted, or null. The whole change is refused, because a part of a fix is no fix. */
function whyNotRevertible(touched: readonly string[], known: ReadonlyMap<string, Entry>): string | null {
  const withBackslash = touched.find((file) => file.includes('\\'));
  if (withBackslash !== undefined) return `it changed a file with a backslash in its name: ${withBackslash}`;
  const folder = touched.find((file) => {
    const { kind, area } = known.get(file) ?? {};
    return kind === 'folder' && area === 'source';
  });
  return folder === undefined ? null : `it replaced a folder with a file: ${folder}`;
}

function isFile({ kind }: Entry): boolean {
  return kind === 'file' || kind === 'link';
}

/** Stores the content of an entry. Its permissions are those of `like`, except for the executable bit. */
async function storeState(
  folder: string,
  entry: Entry | undefined,
  { contents, like }: { readonly contents: Contents; readonly like: FileState | null },
): Promise<FileState | null> {
  const kind = entry && kindOf(entry.stat);
  if (!kind) return null;
  const hash = await contents.put(contentOf(path.join(folder, entry.path), kind));
  const mode = entry.stat.mode & 0o777;
  if (like?.kind !== kind || kind === 'link') return { kind, hash, mode };
  const execute = (like.mode & 0o444) >> 2;
  return { kind, hash, mode: mode & 0o100 ? like.mode | execute : like.mode & ~0o111 };
}

function leadsOut(tree: string, file: string): boolean {
  const link = readlinkSync(path.join(tree, file));
  return path.isAbsolute(link) || !isInside(tree, path.resolve(path.dirname(path.join(tree, file)), link));
}
