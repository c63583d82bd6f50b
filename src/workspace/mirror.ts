import { constants, lstatSync, type Stats } from 'node:fs';
import { access, chmod, copyFile, mkdir, readlink, rm, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import pMap from 'p-map';
import { type Entry, listAll } from './project-files.js';

/** An entry to mirror, and the folder that it comes from. */
export interface Source extends Pick<Entry, 'path' | 'kind' | 'stat'> {
  readonly root: string;
}

/** The stats of source and copy, by path, when the path was last copied. */
export type Copied = Map<string, { readonly source: Stats; readonly copy: Stats }>;

/** Enough to keep Node's four threads busy, and few enough to keep the rest of the program, which reads evidence meanwhile, responsive. */
const CONCURRENCY = 8;

/** How to mirror a folder. */
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
export function isUntouched(before: Stats, now: Stats): boolean {
  return (
    before.ctimeMs === now.ctimeMs &&
    before.mtimeMs === now.mtimeMs &&
    before.ino === now.ino &&
    before.size === now.size &&
    before.mode === now.mode
  );
}
