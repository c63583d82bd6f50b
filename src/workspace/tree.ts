import type { Git } from './git.js';

/** The files of one recorded state. */
export interface Tree {
  /** All paths, relative to the recorded root, with `/`. */
  paths(): Promise<readonly string[]>;
  /** The bytes of the files that are there, by path. */
  read(paths: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Reads a recorded state from the private store, without touching the working tree. */
export function gitTree(git: Git, checkpoint: string): Tree {
  return {
    paths: async () => {
      const text = await git.run(['ls-tree', '-r', '-z', '--name-only', checkpoint]);
      return text.split('\0').filter((path) => path !== '');
    },
    read: async (paths) => {
      // A line end in a name would break the request's lines.
      const asked = paths.filter((path) => !path.includes('\n'));
      if (asked.length === 0) return new Map();
      const input = asked.map((path) => `${checkpoint}:${path}\n`).join('');
      return parseBatch(asked, await git.bytes(['cat-file', '--batch'], { input }));
    },
  };
}

/** Reads `git cat-file --batch`: `id SP type SP size LF contents LF`, or `name SP missing LF`, one for each request. */
function parseBatch(paths: readonly string[], bytes: Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  for (const path of paths) {
    const end = buffer.indexOf(10, at);
    if (end === -1) break;
    const [, type, size] = / (\w+) (\d+)$/.exec(buffer.toString('utf8', at, end)) ?? [];
    at = end + 1;
    if (size === undefined) continue;
    if (type === 'blob') files.set(path, buffer.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return files;
}
