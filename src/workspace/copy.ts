import { constants, existsSync, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { access, chmod, copyFile, mkdir, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pMap from 'p-map';
import { isProgramsOwn } from '../agents/command-files.js';
import { git } from './git.js';
import { isInside } from '../paths.js';
import type { Contents } from './change.js';
import { removeCopy } from './copy-folder.js';
import { contentOf, type FileEdit, type FileState, isSame, kindOf, stateOf } from './file-state.js';
import { type Entry, ignoredAmong, isWritable, listAll, listProject } from './project-files.js';

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
  readonly entries: readonly Entry[];
  /** Starts making it before its agent needs it. */
  prepare(): Promise<void>;
  /**
   * Updates it to the current state of the project, or to what is chosen of that, and discards what was done in it before.
   */
  refresh(choose?: Choose): Promise<void>;
  /** Discards what was done in it since it was last updated, without a look at the source files of the project. */
  reset(): Promise<void>;
  remove(): Promise<void>;
}

/** Chooses what of a project a copy has. */
type Choose = (entries: readonly Entry[]) => Promise<readonly Entry[]>;

/** A larger ignored folder is data rather than code that the work needs. */
const MAX_IGNORED = { files: 50_000, bytes: 500 * 1024 * 1024 };

/** Creates a copy that contains nothing until `prepare` or `refresh` is called. */
export function createCopy(root: string, folder: string): ProjectCopy {
  const tree = path.join(folder, 'copy', path.basename(root) || 'project');
  const base = path.join(folder, 'base');
  const retarget = (link: string, from: Source) => linkIn({ link, at: from.path, root, tree });
  const known = { base: new Map() as Copied, tree: new Map() as Copied };
  let entries: readonly Entry[] = [];
  let filled: { base: readonly Source[]; others: readonly Source[] } = { base: [], others: [] };
  // What the copy contains, as long as no agent has worked in it.
  let untouched: { base: readonly Entry[]; tree: readonly Entry[]; repository: string } | null = null;
  const prepare = async (choose?: Choose) => {
    const before = untouched;
    untouched = null;
    const all = await listProject(root);
    entries = withoutLarge(choose ? await choose(all) : all);
    const source = entries.filter(({ area }) => area === 'source').map((one) => ({ ...one, root }));
    const others = entries.filter(({ area }) => area !== 'source').map((one) => ({ ...one, root }));
    const [toBase, toTree] = [
      { copied: known.base, held: before?.base, retarget: (link: string) => link },
      { copied: known.tree, held: before?.tree, retarget },
    ];
    const inBase = await mirror(source, base, toBase);
    const inTree = await mirror([...inBase, ...others], tree, toTree);
    filled = { base: inBase, others };
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
    prepare: () => prepare(),
    refresh: async (choose) => {
      await prepare(choose);
      untouched = null;
    },
    reset: async () => {
      untouched = null;
      await mirror([...filled.base, ...filled.others], tree, { copied: known.tree, retarget });
      await makeRepository(root, tree, undefined);
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
  await writeFile(path.join(tree, '.git', 'objects', 'info', 'alternates'), objects);
  await git(tree, ['update-ref', 'HEAD', head.trim()]);
  await git(tree, ['read-tree', 'HEAD']);
  return from;
}

/** An entry to mirror, and the folder that it comes from. */
interface Source extends Pick<Entry, 'path' | 'kind' | 'stat'> {
  readonly root: string;
}

/** The stats of source and copy, by path, when the path was last copied. */
type Copied = Map<string, { readonly source: Stats; readonly copy: Stats }>;

/** Enough to keep Node's four threads busy, and few enough to keep the rest of the program, which reads evidence meanwhile, responsive. */
const CONCURRENCY = 8;

interface Mirroring {
  /** Stats of files that were copied before; updated as files are copied. */
  readonly copied: Copied;
  /** Returns the target of a link in the copy. */
  readonly retarget: (link: string, from: Source) => string;
  /** What the folder contains, if nobody can have touched it since it was filled. */
  readonly held?: readonly Entry[] | undefined;
}

/**
 * Makes a folder hold exactly these entries: copies what is new or was touched on either side since the last time, and removes everything else.
 * Files are cloned if the file system supports it (`COPYFILE_FICLONE`), else copied, and never linked, so that no write to the copy reaches its
 * source. Leaves out what cannot be read, such as a cache file that was deleted after it was listed. Returns the entries as they are in the folder
 * now.
 */
export async function mirror<Of extends Source>(
  sources: readonly Of[],
  target: string,
  { copied, retarget, held }: Mirroring,
): Promise<Of[]> {
  await mkdir(target, { recursive: true });
  const wanted = new Map(sources.map((one) => [one.path, one]));
  const there = new Map((held ?? (await listAll(target))).map((one) => [one.path, one]));
  const stale = [...there.values()].filter(({ path, kind }) => wanted.get(path)?.kind !== kind);
  await removeAll(target, stale);
  for (const { path: folder, stat } of sources.filter(({ kind }) => kind === 'folder')) {
    const now = there.get(folder);
    if (now?.kind !== 'folder') await mkdir(path.join(target, folder), { recursive: true });
    // Its contents have to be written and removed later, even if the source folder is not writable.
    const mode = (stat.mode & 0o777) | 0o700;
    if (now?.kind === 'folder' && (now.stat.mode & 0o777) !== mode)
      await chmod(path.join(target, folder), mode);
  }
  const isNew = ({ path, stat }: Of) => {
    const before = copied.get(path);
    const now = there.get(path);
    return !(now && before && isUntouched(before.source, stat) && isUntouched(before.copy, now.stat));
  };
  const stats = new Map<string, Stats>();
  const unreadable = new Set<string>();
  const files = sources.filter((one) => one.kind !== 'folder' && isNew(one));
  await pMap(
    files,
    async (one) => {
      const place = path.join(target, one.path);
      if (there.get(one.path)?.kind === one.kind) await rm(place, { force: true });
      if (!(await copyOne(one, place, retarget))) {
        unreadable.add(one.path);
        return;
      }
      const stat = lstatSync(place);
      stats.set(one.path, stat);
      copied.set(one.path, { source: one.stat, copy: stat });
    },
    { concurrency: CONCURRENCY },
  );
  return sources
    .filter((one) => !unreadable.has(one.path))
    .map((one) => ({
      ...one,
      root: target,
      stat: stats.get(one.path) ?? there.get(one.path)?.stat ?? one.stat,
    }));
}

/** Returns false if the source cannot be read. */
async function copyOne(
  source: Source,
  place: string,
  retarget: (link: string, from: Source) => string,
): Promise<boolean> {
  const from = path.join(source.root, source.path);
  try {
    if (source.kind === 'link') await symlink(retarget(await readlink(from), source), place);
    else {
      await copyFile(from, place, constants.COPYFILE_FICLONE);
      // Build tools compare modification times.
      await utimes(place, source.stat.atime, source.stat.mtime);
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

/** Removes these entries, including what is below them and folders that were made unwritable. */
async function removeAll(target: string, entries: readonly Entry[]): Promise<void> {
  for (const { path: folder } of entries.filter(({ kind }) => kind === 'folder'))
    await chmod(path.join(target, folder), 0o700).catch(() => undefined);
  for (const { path: file } of entries) await rm(path.join(target, file), { recursive: true, force: true });
}

/** Whether a file was not written to in between, even if its times were reset: no program can set the change time (ctime). */
function isUntouched(before: Stats, now: Stats): boolean {
  return (
    before.ctimeMs === now.ctimeMs &&
    before.mtimeMs === now.mtimeMs &&
    before.ino === now.ino &&
    before.size === now.size &&
    before.mode === now.mode
  );
}

/** What an agent did to its copy. */
export interface Collected {
  readonly edits: readonly FileEdit[];
  /** Paths that it wrote although git ignores them; they cannot be part of a fix. */
  readonly ignored: readonly string[];
  /** Why none of its work can be a fix, or null. */
  readonly refused: string | null;
}

/** Returns the source files of the project itself, other than our own, that changed since its copy was made, relative to the root, in order. */
export async function changedSince(
  root: string,
  copy: ProjectCopy,
  ours: ReadonlySet<string>,
): Promise<string[]> {
  const sources = (entries: readonly Entry[]) =>
    new Map(entries.filter((one) => one.area === 'source' && isFile(one)).map((one) => [one.path, one]));
  const [before, now] = [sources(copy.entries), sources(await listProject(root))];
  const differs = (file: string) => {
    const [old, young] = [before.get(file), now.get(file)];
    if (old && young && isUntouched(old.stat, young.stat)) return false;
    const [then, today] = [stateOf(copy.base, file), stateOf(root, file)];
    return then === 'other' || today === 'other' || !isSame(then, today);
  };
  const all = new Set([...before.keys(), ...now.keys()]);
  return [...all].filter((file) => !ours.has(file) && differs(file)).toSorted();
}

const MAX_FILES = 1000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Compares a copy with what it was made from, and stores the contents of files that differ. */
export async function collect(root: string, copy: ProjectCopy, contents: Contents): Promise<Collected> {
  const there = new Map((await listAll(copy.tree)).filter(isFile).map((one) => [one.path, one]));
  const base = new Map((await listAll(copy.base)).filter(isFile).map((one) => [one.path, one]));
  const known = new Map(copy.entries.map((one) => [one.path, one]));
  const isTouched = (file: string) => {
    const now = there.get(file);
    const copied = copy.copied.get(file);
    return !(now && copied && isUntouched(copied.copy, now.stat));
  };
  const old = [...base.keys()].filter(isTouched);
  const added = [...there.keys()].filter(
    (file) => !base.has(file) && isTouched(file) && !isProgramsOwn(file),
  );
  const others = added.filter(isWritable);
  const unknown = others.filter((file) => !known.has(file));
  // Agent programs leave folders that ignore themselves, and only the copy has their rules.
  const matches = await Promise.all([root, copy.tree].map((at) => ignoredAmong(at, unknown)));
  const hidden = new Set(matches.flatMap((paths) => [...paths]));
  const ignored = others.filter((file) => hidden.has(file) || known.has(file));
  const refused = whyNotRevertible([...old, ...added], known);
  if (refused !== null) return { edits: [], ignored, refused };
  const paths = [...old, ...unknown.filter((file) => !hidden.has(file))];
  const bytes = paths.reduce((sum, file) => sum + (there.get(file)?.stat.size ?? 0), 0);
  if (paths.length > MAX_FILES || bytes > MAX_BYTES) {
    const size = `${paths.length} files, ${Math.ceil(bytes / 1024 / 1024)} MB`;
    return { edits: [], ignored, refused: `it changed ${size}, which is too much for a fix` };
  }
  const edits: FileEdit[] = [];
  for (const file of paths.toSorted()) {
    const before = await keep(copy.base, base.get(file), { contents, like: null });
    const after = await keep(copy.tree, there.get(file), { contents, like: before });
    if (after?.kind === 'link' && leadsOut(copy.tree, file))
      return { edits: [], ignored, refused: `it created a link that points outside the project: ${file}` };
    if (!isSame(before, after)) edits.push({ path: file, before, after });
  }
  return { edits, ignored, refused: null };
}

/** Part of a fix alone would not be one, so all of it is refused. */
function whyNotRevertible(touched: readonly string[], known: ReadonlyMap<string, Entry>): string | null {
  const odd = touched.find((file) => file.includes('\\'));
  if (odd !== undefined) return `it changed a file with a backslash in its name: ${odd}`;
  const folder = touched.find((file) => {
    const { kind, area } = known.get(file) ?? {};
    return kind === 'folder' && area === 'source';
  });
  return folder === undefined ? null : `it replaced a folder with a file: ${folder}`;
}

function isFile({ kind }: Entry): boolean {
  return kind === 'file' || kind === 'link';
}

interface StoreOptions {
  contents: Contents;
  /** The state whose permissions are kept, except for whether the file is executable. */
  like: FileState | null;
}

async function keep(
  folder: string,
  entry: Entry | undefined,
  { contents, like }: StoreOptions,
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
