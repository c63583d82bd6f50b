import { realpathSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cacheFolders, cachesFor, keyOf } from '../work-folder.js';

export interface CopyFolder {
  /** The project, which only one run at a time works on; two packages of one repository have separate copies. */
  readonly project: string;
  readonly root: string;
  /** The number of the copy, from 0. */
  readonly n?: number;
  /** Called with the folder's path before the folder exists, so that it can be cleaned up after a kill at any moment. */
  readonly announce: (folder: string) => void;
}

/**
 * Creates the folder of a project's copy: on the project's own file system if possible, so that files can be cloned, and at the same path in
 * each run, because agent programs keep notes by path. What an earlier run left there is removed; a folder that is not ours is not touched.
 */
export async function makeCopyFolder({ root, project, n = 0, announce }: CopyFolder): Promise<string> {
  const name = n === 0 ? nameFor(project) : `${nameFor(project)}-${n + 1}`;
  const folder = path.join(cachesFor(root)[0] ?? realpathSync(tmpdir()), name);
  await removeCopy(folder);
  announce(folder);
  const isMade = await mkdir(folder, { mode: 0o700 }).then(
    () => true,
    () => false,
  );
  const made = isMade ? folder : await mkdtemp(`${folder}-`);
  if (made !== folder) announce(made);
  await mkdir(markerOf(made));
  return made;
}

/** Returns the folders of a project's copies, which its killed runs may have left. No file names them, so no file can name others. */
export async function copiesOf(project: string): Promise<string[]> {
  const name = nameFor(realpathSync(project));
  const found = await Promise.all(
    cacheFolders().map(async (place) => {
      const names = await readdir(place).catch(() => []);
      const ours = names.filter((one) => one === name || one.startsWith(`${name}-`));
      return ours.map((one) => path.join(realpathSync(place), one));
    }),
  );
  return [...new Set(found.flat())];
}

function nameFor(project: string): string {
  return `self-heal-${keyOf(project)}`;
}

/** The marker is a folder, because a folder is created atomically: a copy whose creation was killed is either empty or marked. */
function markerOf(folder: string): string {
  return path.join(folder, `.${path.basename(folder)}`);
}

/** Whether a folder is such a copy, rather than a path that somebody wrote into one of our files. The watchdog may be removing it. */
export async function isCopy(folder: string): Promise<boolean> {
  if (!path.basename(folder).startsWith('self-heal-')) return false;
  return (await isFolder(folder)) && (await isFolder(markerOf(folder)));
}

/** Whether there is a folder at this path, not a link to one. */
function isFolder(place: string): Promise<boolean> {
  return lstat(place).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

/** Removes a copy, its marker last, and nothing that is not a copy. The watchdog of a killed run may be doing the same. */
export async function removeCopy(folder: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 } as const;
  if (await isCopy(folder)) {
    const marker = path.basename(markerOf(folder));
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((one) => one !== marker)) await rm(path.join(folder, name), options);
    await rm(markerOf(folder), options);
  }
  // An empty folder is left by a kill just before the marker was created, or just after it was removed.
  if (path.basename(folder).startsWith('self-heal-')) await rmdir(folder).catch(() => undefined);
}
