import { realpathSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { listCacheFolders, listUsableCaches, createProjectKey } from '../work-folder.js';

export interface CopyFolderOptions {
  /** The project. Two packages of one repository have separate copies. */
  readonly project: string;
  readonly root: string;
  /** The number of the copy, from 0. */
  readonly n?: number;
  /** Called with the folder's path before the folder exists, because a kill at any moment must leave a record of it. */
  readonly announce: (folder: string) => void;
}

/**
 * Creates the folder of a project's copy: on the project's own file system if possible, where files can be cloned, and at the same path in each run,
 * because agent programs keep notes by path. Removes an earlier copy, but touches no other folder.
 */
export async function makeCopyFolder({ root, project, n = 0, announce }: CopyFolderOptions): Promise<string> {
  const name = n === 0 ? createFolderName(project) : `${createFolderName(project)}-${n + 1}`;
  const folder = path.join(listUsableCaches(root)[0] ?? realpathSync(tmpdir()), name);
  await removeCopy(folder);
  announce(folder);
  const created = await mkdir(folder, { mode: 0o700 }).then(
    () => folder,
    () => mkdtemp(`${folder}-`),
  );
  if (created !== folder) announce(created);
  await mkdir(markerPath(created));
  return created;
}

/** Finds the copies of a project that killed runs have left. Searches the disk instead of reading a list, because a list could name any folder. */
export async function findCopies(project: string): Promise<string[]> {
  const name = createFolderName(realpathSync(project));
  const folders = await Promise.all(
    listCacheFolders().map(async (cache) => {
      const entries = await readdir(cache).catch(() => []);
      const copies = entries.filter((entry) => entry === name || entry.startsWith(`${name}-`));
      return copies.map((copy) => path.join(realpathSync(cache), copy));
    }),
  );
  return [...new Set(folders.flat())];
}

function createFolderName(project: string): string {
  return `self-heal-${createProjectKey(project)}`;
}

/** The marker is a folder, because a folder is created atomically: after a kill, a copy is either empty or marked. */
function markerPath(folder: string): string {
  return path.join(folder, `.${path.basename(folder)}`);
}

/** True if a folder is a copy made by self-heal, and not just a path that somebody wrote into one of our files. */
async function isCopy(folder: string): Promise<boolean> {
  if (!path.basename(folder).startsWith('self-heal-')) return false;
  return (await isFolder(folder)) && (await isFolder(markerPath(folder)));
}

/** True if a path is a folder, not a link to one. */
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
    const marker = path.basename(markerPath(folder));
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (name !== marker) await rm(path.join(folder, name), options);
    await rm(markerPath(folder), options);
  }
  // A kill just before the marker was created, or just after it was removed, leaves an empty folder.
  if (path.basename(folder).startsWith('self-heal-')) await rmdir(folder).catch(() => undefined);
}
