import type { Tree } from '../../../src/workspace/tree.js';

/** A recorded state that lies in memory. */
export function inMemoryTree(files: Readonly<Record<string, string>>): Tree {
  return {
    paths: async () => Object.keys(files),
    read: async (paths) =>
      new Map(paths.flatMap((path) => (files[path] === undefined ? [] : [[path, files[path]] as const]))),
  };
}
