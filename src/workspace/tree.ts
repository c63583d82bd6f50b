import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Tree } from './git-trees.js';
import { type Entry, listAll, listProject } from './project-files.js';

export function folderTree(root: string): Tree {
  return treeIn(root, () => listAll(root));
}

export function projectTree(root: string): Tree {
  return treeIn(root, async () => (await listProject(root)).filter(({ area }) => area === 'source'));
}

function treeIn(root: string, list: () => Promise<readonly Entry[]>): Tree {
  return {
    paths: async () => (await list()).filter(({ kind }) => kind === 'file').map((one) => one.path),
    read: async (paths) => {
      const found = new Map<string, Uint8Array>();
      // Not all at once, because each open file takes a descriptor.
      for (let start = 0; start < paths.length; start += 100) {
        const part = paths.slice(start, start + 100);
        const files = await Promise.all(
          part.map((file) => readFile(path.join(root, file)).catch(nullIfMissing)),
        );
        files.forEach((bytes, index) => bytes && found.set(part[index] ?? '', bytes));
      }
      return found;
    },
  };
}

/** What the guard cannot read counts as missing, but not when it is self-heal that lacks descriptors or memory, or when the disk fails. */
function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM'].includes(error.code ?? '')) return null;
  throw error;
}
