import { realpathSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cacheFolders, cachesFor, keyOf } from '../work-folder.js';

export interface CopyFolder {
  /** The project. Two packages of one repository have separate copies. */
  readonly project: string;
  readonly root: string;
  /** The number of the copy, from 0. */
  readonly n?: number;
  /** Called with the folder's path before the folder exists, so that it can be removed after a kill at any moment. */
  readonly announce: (folder: string) => void;
}

/**
 * Creates the folder of a project's copy. It is on the project's own file system if possible, so that files can be cloned, and has the same path in
 * each run, because agent programs keep notes by path. An earlier copy is removed; any other folder is not touched.
 */
export async function makeCopyFolder({ root, project, n = 0, announce }: CopyFolder): Promise<string> {
  const name = n === 0 ? nameFor(project) : `${nameFor(project)}-${n + 1}`;
  const folder = path.join(cachesFor(root)[0] ?? realpathSync(tmpdir()), name);
  await removeCopy(folder);
  announce(folder);
  const created = await mkdir(folder, { mode: 0o700 }).then(
    () => folder,
    () => mkdtemp(`${folder}-`),
  );
  if (created !== folder) announce(created);
  await mkdir(markerOf(created));
  return created;
}

/** Returns the folders of a project's copies, which killed runs may have left. They are searched, because a file could name any folder. */
export async function copiesOf(project: string): Promise<string[]> {
  const name = nameFor(realpathSync(project));
  const folders = await Promise.all(
    cacheFolders().map(async (cache) => {
      const entries = await readdir(cache).catch(() => []);
      const copies = entries.filter((entry) => entry === name || entry.startsWith(`${name}-`));
      return copies.map((copy) => path.join(realpathSync(cache), copy));
    }),
  );
  return [...new Set(folders.flat())];
}

function nameFor(project: string): string {
  return `self-heal-${keyOf(project)}`;
}

/** The marker is a folder, because a folder is created atomically: after a kill, a copy is either empty or marked. */
function markerOf(folder: string): string {
  return path.join(folder, `.${path.basename(folder)}`);
}

/** Whether a folder is such a copy, rather than a path that somebody wrote into one of our files. */
async function isCopy(folder: string): Promise<boolean> {
  if (!path.basename(folder).startsWith('self-heal-')) return false;
  return (await isFolder(folder)) && (await isFolder(markerOf(folder)));
}

/** Whether a path is a folder, not a link to one. */
function isFolder(folder: string): Promise<boolean> {
  return lstat(folder).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

/** Removes a copy, its marker last; leaves any other folder. The watchdog of a killed run may be removing it at the same time. */
export async function removeCopy(folder: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 } as const;
  if (await isCopy(folder)) {
    const marker = path.basename(markerOf(folder));
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (name !== marker) await rm(path.join(folder, name), options);
    await rm(markerOf(folder), options);
  }
  // A kill just before the marker was created, or just after it was removed, leaves an empty folder.
  if (path.basename(folder).startsWith('self-heal-')) await rmdir(folder).catch(() => undefined);
}
