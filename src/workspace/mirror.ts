import { constants, lstatSync, type Stats } from 'node:fs';
import { chmod, copyFile, mkdir, readlink, rm, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import pMap from 'p-map';
import { type Entry, listAll } from './project-files.js';

/** An entry to be mirrored, and the folder that it comes from. */
export interface Source extends Pick<Entry, 'path' | 'kind' | 'stat'> {
  readonly root: string;
}

/** How source and copy of a path looked when it was copied last. */
export type Copied = Map<string, { readonly source: Stats; readonly copy: Stats }>;

/** Enough to keep Node's four threads busy, and few enough that the rest of the program, which reads evidence meanwhile, is served soon. */
const CONCURRENCY = 8;

/** What becomes of the files on their way. */
interface Mirroring {
  readonly copied: Copied;
  /** Where a link of the copy leads. */
  readonly retarget: (link: string, from: Source) => string;
  /** What is in the folder, where nobody can have touched it since it was filled. */
  readonly held?: readonly Entry[] | undefined;
}

/**
 * Makes a folder hold exactly these entries: copies what is new or was touched on either side since the last time, and removes the rest. Files are
 * cloned where the file system can (`COPYFILE_FICLONE`), else copied; never linked, so no write to the copy reaches its source. Gives the entries as they are in the folder now.
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
    // What is in it has to be written and removed later, whoever made it unwritable.
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
  const files = sources.filter((one) => one.kind !== 'folder' && isNew(one));
  await pMap(
    files,
    async (one) => {
      const place = path.join(target, one.path);
      if (there.get(one.path)?.kind === one.kind) await rm(place, { force: true });
      await copyOne(one, place, retarget);
      const stat = lstatSync(place);
      stats.set(one.path, stat);
      copied.set(one.path, { source: one.stat, copy: stat });
    },
    { concurrency: CONCURRENCY },
  );
  return sources.map((one) => ({
    ...one,
    root: target,
    stat: stats.get(one.path) ?? there.get(one.path)?.stat ?? one.stat,
  }));
}

async function copyOne(
  source: Source,
  place: string,
  retarget: (link: string, from: Source) => string,
): Promise<void> {
  const from = path.join(source.root, source.path);
  if (source.kind === 'link') return symlink(retarget(await readlink(from), source), place);
  await copyFile(from, place, constants.COPYFILE_FICLONE);
  // Build tools compare times.
  await utimes(place, source.stat.atime, source.stat.mtime);
}

/** The topmost of these entries with all that is below them; folders that were made unwritable too. */
async function removeAll(target: string, entries: readonly Entry[]): Promise<void> {
  for (const { path: folder } of entries.filter(({ kind }) => kind === 'folder'))
    await chmod(path.join(target, folder), 0o700).catch(() => undefined);
  for (const { path: file } of entries) await rm(path.join(target, file), { recursive: true, force: true });
}

/** Whether nothing was written to a file in between, also where its times were put back: no program can set the time of the last change. */
export function isUntouched(before: Stats, now: Stats): boolean {
  return (
    before.ctimeMs === now.ctimeMs &&
    before.mtimeMs === now.mtimeMs &&
    before.ino === now.ino &&
    before.size === now.size &&
    before.mode === now.mode
  );
}
