import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { listAll } from './project-files.js';

/** The files of one recorded state, to be read. */
export interface Tree {
  /** All paths, relative to the root, with `/`. */
  paths(): Promise<readonly string[]>;
  /** The texts of the files that are there, by path; bytes that are not UTF-8 come as replacement characters. */
  read(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** The files of a folder. */
export function folderTree(root: string): Tree {
  return {
    paths: async () => (await listAll(root)).filter(({ kind }) => kind === 'file').map((one) => one.path),
    read: async (paths) => {
      const texts = await Promise.all(
        paths.map(
          async (file) => [file, await readFile(path.join(root, file), 'utf8').catch(() => null)] as const,
        ),
      );
      return new Map(texts.flatMap(([file, text]) => (text === null ? [] : [[file, text] as const])));
    },
  };
}
