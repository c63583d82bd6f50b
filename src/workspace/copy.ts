import { constants, existsSync, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { access, chmod, copyFile, mkdir, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pMap from 'p-map';
import { isInProgramFolder } from '../agents/command-files.js';
import { git } from './git.js';
import { isInside } from '../paths.js';
import type { ContentStore } from './change.js';
import { removeCopy } from './copy-folder.js';
import {
  readContent,
  type FileEdit,
  type FileState,
  isSameState,
  getFileKind,
  readFileState,
} from './file-state.js';
import { type Entry, isWritable, listAllEntries, listProject, findUnwritable } from './project-files.js';
import { pointsOutside } from './write-files.js';

/** A copy of a project in which an agent works, at its own path. */
export interface ProjectCopy {
  /** The folder that contains the copy and its base; it is deleted as a whole. */
  readonly folder: string;
  /** The copy of the root. */
  readonly tree: string;
  /** The source files at the time of copying, out of the agent's reach. */
  readonly base: string;
  /** The stats of source and copy when `tree` was copied. */
  readonly copyStats: CopyStats;
  readonly entries: readonly Entry[];
  /** Fills the copy before its agent needs it. */
  prepare(): Promise<void>;
  /** Updates the copy to the project's current entries, or the chosen ones, and discards all changes in the copy. */
  refresh(choose?: ChooseEntries): Promise<void>;
  /** Discards all changes since the copy was last updated, without reading the project's source files. */
  reset(): Promise<void>;
  remove(): Promise<void>;
}

/** Chooses the project's entries that a copy gets. */
type ChooseEntries = (entries: readonly Entry[]) => Promise<readonly Entry[]>;

/** A larger ignored folder is not copied: it is probably data that the agent does not need. */
const MAX_IGNORED = { files: 50_000, bytes: 500 * 1024 * 1024 };

/** Creates a copy that is empty until `prepare` or `refresh` is called. */
export function createCopy(root: string, folder: string): ProjectCopy {
  const tree = path.join(folder, 'copy', path.basename(root) || 'project');
  const base = path.join(folder, 'base');
  const retarget = (link: string, source: Source) => retargetLink({ link, file: source.path, root, tree });
  const copyStats = { base: new Map() as CopyStats, tree: new Map() as CopyStats };
  let entries: readonly Entry[] = [];
  let sources: readonly Source[] = [];
  // The last copied entries; null once an agent may have changed the copy.
  let lastCopied: { base: readonly Source[]; tree: readonly Source[]; repository: string } | null = null;
  const prepare = async (choose?: ChooseEntries) => {
    const before = lastCopied;
    lastCopied = null;
    const all = await listProject(root);
    entries = dropLargeFolders(choose ? await choose(all) : all);
    const projectEntries = entries.map((entry) => ({ ...entry, root }));
    const baseEntries = await mirror(
      projectEntries.filter(({ area }) => area === 'source'),
      base,
      { copyStats: copyStats.base, existing: before?.base, retarget: (link) => link },
    );
    sources = [...baseEntries, ...projectEntries.filter(({ area }) => area !== 'source')];
    const treeEntries = await mirror(sources, tree, {
      copyStats: copyStats.tree,
      existing: before?.tree,
      retarget,
    });
    const repository = await makeRepository(root, tree, before?.repository);
    lastCopied = { base: baseEntries, tree: treeEntries, repository };
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
      lastCopied = null;
    },
    reset: async () => {
      lastCopied = null;
      await mirror(sources, tree, { copyStats: copyStats.tree, retarget });
      await makeRepository(root, tree, undefined);
    },
    remove: () => removeCopy(folder),
  };
}

/** Returns the target of a link in the copy: the same file in the copy, or the original target if it is outside of the project. */
function retargetLink({
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

function dropLargeFolders(entries: readonly Entry[]): Entry[] {
  const ignored = entries.filter(({ area }) => area === 'ignored');
  const sizes = new Map<string, { files: number; bytes: number }>();
  const folders = new Set(ignored.filter(({ kind }) => kind === 'folder').map((entry) => entry.path));
  for (const { path: file, stat, kind } of ignored) {
    const top = findTopmost(folders, file);
    const sum = sizes.get(top) ?? { files: 0, bytes: 0 };
    sizes.set(top, { files: sum.files + 1, bytes: sum.bytes + (kind === 'file' ? stat.size : 0) });
  }
  const large = [...sizes].filter(
    ([, { files, bytes }]) => files > MAX_IGNORED.files || bytes > MAX_IGNORED.bytes,
  );
  const isLarge = (file: string) => large.some(([top]) => file === top || file.startsWith(`${top}/`));
  return entries.filter((entry) => !isLarge(entry.path));
}

/** Returns the topmost of these folders that contains a file, or the file itself. */
function findTopmost(folders: ReadonlySet<string>, file: string): string {
  const parts = file.split('/');
  const depth = parts.findIndex((_, index) => folders.has(parts.slice(0, index + 1).join('/')));
  return depth === -1 ? file : parts.slice(0, depth + 1).join('/');
}

/**
 * Gives the copy a repository of its own, so that an agent's commits, resets and deletions do not affect the project. It reads the objects of the
 * project's repository, so log, blame and diff show the same as in the project, and it has no remotes, hooks or settings. Returns a description of
 * the project's repository; does nothing if that equals `before`.
 */
async function makeRepository(root: string, tree: string, before: string | undefined): Promise<string> {
  const [head, objects, branch] = existsSync(path.join(root, '.git'))
    ? await Promise.all([
        git(root, ['rev-parse', '--verify', 'HEAD']),
        git(root, ['rev-parse', '--path-format=absolute', '--git-path', 'objects']),
        git(root, ['symbolic-ref', '--short', 'HEAD']),
      ])
    : [];
  const description = JSON.stringify([head, objects, branch]);
  if (description === before) return description;
  await rm(path.join(tree, '.git'), { recursive: true, force: true });
  const init = ['init', '--quiet', '--template=', `--initial-branch=${branch?.trim() || 'main'}`];
  if ((await git(tree, init)) === null || !head || !objects) return description;
  await mkdir(path.join(tree, '.git', 'objects', 'info'), { recursive: true });
  await writeFile(path.join(tree, '.git', 'objects', 'info', 'alternates'), objects);
  await git(tree, ['update-ref', 'HEAD', head.trim()]);
  await git(tree, ['read-tree', 'HEAD']);
  return description;
}

/** An entry to mirror, and the folder that contains it. */
interface Source extends Pick<Entry, 'path' | 'kind' | 'stat'> {
  readonly root: string;
}

/** The stats of source and copy, by path, when the path was last copied. */
type CopyStats = Map<string, { readonly source: Stats; readonly copy: Stats }>;

/** Keeps Node's four threads busy, and the rest of the program responsive. */
const CONCURRENCY = 8;

interface MirrorOptions {
  /** The stats of files that were copied before; updated as files are copied. */
  readonly copyStats: CopyStats;
  /** Returns the target of a link in the copy. */
  readonly retarget: (link: string, source: Source) => string;
  /** The contents of the folder, if nobody else can have changed it since it was filled. */
  readonly existing?: readonly Omit<Source, 'root'>[] | undefined;
}

/**
 * Makes a folder contain exactly these entries: copies those that are new or have changed on either side, and removes all others. Clones files if the
 * file system supports it (`COPYFILE_FICLONE`). Never links files, because a write to the copy must not reach its source. Skips unreadable files, such
 * as a cache file that was deleted after listing. Returns the entries in the folder.
 */
export async function mirror<Item extends Source>(
  sources: readonly Item[],
  target: string,
  { copyStats, retarget, existing }: MirrorOptions,
): Promise<Item[]> {
  await mkdir(target, { recursive: true });
  const sourceByPath = new Map(sources.map((source) => [source.path, source]));
  const before = new Map((existing ?? (await listAllEntries(target))).map((entry) => [entry.path, entry]));
  const stale = [...before.values()].filter(({ path, kind }) => sourceByPath.get(path)?.kind !== kind);
  await removeAll(target, stale);
  for (const { path: folder, stat } of sources.filter(({ kind }) => kind === 'folder')) {
    const now = before.get(folder);
    if (now?.kind !== 'folder') await mkdir(path.join(target, folder), { recursive: true });
    // The copied folder must be writable, even if the source folder is not.
    const mode = (stat.mode & 0o777) | 0o700;
    if (now?.kind === 'folder' && (now.stat.mode & 0o777) !== mode)
      await chmod(path.join(target, folder), mode);
  }
  const isNew = ({ path, stat }: Item) => {
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
  retarget: (link: string, source: Source) => string,
): Promise<boolean> {
  const file = path.join(source.root, source.path);
  try {
    if (source.kind === 'link') await symlink(retarget(await readlink(file), source), copy);
    else {
      await copyFile(file, copy, constants.COPYFILE_FICLONE);
      // Build tools compare modification times.
      await utimes(copy, source.stat.atime, source.stat.mtime);
    }
    return true;
  } catch (error) {
    const isReadable = await access(file, constants.R_OK).then(
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

/** True if a file was not written between these stats. No program can set the change time (ctime). */
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
  /** Paths that the agent wrote although git ignores them; they cannot be part of a fix. */
  readonly ignored: readonly string[];
  /** Why none of the agent's changes can be a fix, or null. */
  readonly refused: string | null;
}

/**
 * Returns the project's source files that somebody other than self-heal has changed since the copy was made, relative to the root, sorted. `isOurs` is
 * true if self-heal left a file in this state.
 */
export async function listFilesChangedSince(
  root: string,
  copy: ProjectCopy,
  isOurs: (file: string, now: FileState | null) => boolean,
): Promise<string[]> {
  const indexSources = (entries: readonly Entry[]) =>
    indexByPath(entries.filter((entry) => entry.area === 'source' && isFile(entry)));
  const [before, now] = [indexSources(copy.entries), indexSources(await listProject(root))];
  const differs = (file: string) => {
    const [oldEntry, newEntry] = [before.get(file), now.get(file)];
    if (oldEntry && newEntry && isUntouched(oldEntry.stat, newEntry.stat)) return false;
    const [oldState, newState] = [readFileState(copy.base, file), readFileState(root, file)];
    if (oldState === 'other' || newState === 'other') return true;
    return !isSameState(oldState, newState) && !isOurs(file, newState);
  };
  const all = new Set([...before.keys(), ...now.keys()]);
  return [...all].filter(differs).toSorted();
}

const MAX_FILES = 1000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Compares a copy with its base, and stores the contents of files that differ. */
export async function collectChanges(
  root: string,
  copy: ProjectCopy,
  contents: ContentStore,
): Promise<CollectResult> {
  const tree = indexByPath((await listAllEntries(copy.tree)).filter(isFile));
  const base = indexByPath((await listAllEntries(copy.base)).filter(isFile));
  const copiedByPath = indexByPath(copy.entries);
  const isTouched = (file: string) => {
    const now = tree.get(file);
    const last = copy.copyStats.get(file);
    return !(now && last && isUntouched(last.copy, now.stat));
  };
  const changed = [...base.keys()].filter(isTouched);
  const added = [...tree.keys()].filter(
    (file) => !base.has(file) && isTouched(file) && !isInProgramFolder(file),
  );
  const writable = added.filter(isWritable);
  const newFiles = writable.filter((file) => !copiedByPath.has(file));
  // Also checks the copy, because agent programs create folders with their own ignore rules there.
  const matches = await Promise.all([root, copy.tree].map((folder) => findUnwritable(folder, newFiles)));
  const unwritable = new Set(matches.flatMap((paths) => [...paths]));
  const ignored = writable.filter((file) => unwritable.has(file) || copiedByPath.has(file));
  const refused = explainIrreversible([...changed, ...added], copiedByPath);
  if (refused !== null) return { edits: [], ignored, refused };
  const paths = [...changed, ...newFiles.filter((file) => !unwritable.has(file))];
  const bytes = paths.reduce((sum, file) => sum + (tree.get(file)?.stat.size ?? 0), 0);
  if (paths.length > MAX_FILES || bytes > MAX_BYTES) {
    const size = `${paths.length} files, ${Math.ceil(bytes / 1024 / 1024)} MB`;
    return { edits: [], ignored, refused: `it changed ${size}, which is too much for a fix` };
  }
  const edits: FileEdit[] = [];
  for (const file of paths.toSorted()) {
    const before = await storeState(copy.base, base.get(file), { contents, like: null });
    const after = await storeState(copy.tree, tree.get(file), { contents, like: before });
    if (after?.kind === 'link' && leadsOutside(copy.tree, file))
      return { edits: [], ignored, refused: `it created a link that points outside the project: ${file}` };
    if (!isSameState(before, after)) edits.push({ path: file, before, after });
  }
  return { edits, ignored, refused: null };
}

function indexByPath(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

/** Explains why a change could not be reverted later, or returns null. The whole change is then refused, because part of a fix is no fix. */
function explainIrreversible(
  touched: readonly string[],
  copiedByPath: ReadonlyMap<string, Entry>,
): string | null {
  const withBackslash = touched.find((file) => file.includes('\\'));
  if (withBackslash !== undefined) return `it changed a file with a backslash in its name: ${withBackslash}`;
  const folder = touched.find((file) => {
    const { kind, area } = copiedByPath.get(file) ?? {};
    return kind === 'folder' && area === 'source';
  });
  return folder === undefined ? null : `it replaced a folder with a file: ${folder}`;
}

function isFile({ kind }: Entry): boolean {
  return kind === 'file' || kind === 'link';
}

/** Stores the content of an entry, with the permissions of `like` except for the executable bit. */
async function storeState(
  folder: string,
  entry: Entry | undefined,
  { contents, like }: { readonly contents: ContentStore; readonly like: FileState | null },
): Promise<FileState | null> {
  const kind = entry && getFileKind(entry.stat);
  if (!kind) return null;
  const hash = await contents.put(readContent(path.join(folder, entry.path), kind));
  const mode = entry.stat.mode & 0o777;
  if (like?.kind !== kind || kind === 'link') return { kind, hash, mode };
  const execute = (like.mode & 0o444) >> 2;
  return { kind, hash, mode: mode & 0o100 ? like.mode | execute : like.mode & ~0o111 };
}

function leadsOutside(tree: string, file: string): boolean {
  const link = readlinkSync(path.join(tree, file));
  return path.isAbsolute(link) || pointsOutside(tree, file, link);
}
