import { createDiskTree, type FileSnapshot } from './git-trees.js';
import { type Entry, listAll, listProject } from './project-files.js';

/** Creates a snapshot of the files below one of our own folders. */
export function createFolderTree(root: string): FileSnapshot {
  return createDiskTree(root, async () => listFiles(await listAll(root)));
}

/** Creates a snapshot of a project's source files. */
export function createProjectTree(root: string): FileSnapshot {
  return createDiskTree(root, async () =>
    listFiles((await listProject(root)).filter(({ area }) => area === 'source')),
  );
}

function listFiles(entries: readonly Entry[]): string[] {
  return entries.filter(({ kind }) => kind === 'file').map((entry) => entry.path);
}
