import { diskTree, type FileSnapshot } from './git-trees.js';
import { type Entry, listAll, listProject } from './project-files.js';

/** The files below a folder of our own. */
export function folderTree(root: string): FileSnapshot {
  return diskTree(root, async () => filesAmong(await listAll(root)));
}

/** The source files of a project. */
export function projectTree(root: string): FileSnapshot {
  return diskTree(root, async () =>
    filesAmong((await listProject(root)).filter(({ area }) => area === 'source')),
  );
}

function filesAmong(entries: readonly Entry[]): string[] {
  return entries.filter(({ kind }) => kind === 'file').map((entry) => entry.path);
}
