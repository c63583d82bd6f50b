import { type Dirent } from 'node:fs';
import { lstat, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Git } from './git.js';

/** So many entries of packages are looked at; a tree of more is looked at in part. */
const MAX_ENTRIES = 100_000;
/** Where builds, caches and logs go: to write there is an agent's everyday work. */
const output =
  /(?:^|\/)(?:node_modules|\.self-heal|test-results|playwright-report|blob-report|dist|build|out|coverage|target|tmp|temp|logs?|\.[\w-]*cache[\w-]*|\.next|\.nuxt|\.turbo|\.svelte-kit|\.vite|\.angular|\.parcel-cache|__pycache__|\.venv|venv)\/|\.(?:log|tsbuildinfo|pid|swp)$/;

/** A moment, in the file system's own time, in milliseconds. */
export async function momentIn(folder: string): Promise<number> {
  const file = path.join(folder, 'moment');
  await writeFile(file, `${process.hrtime.bigint()}\n`);
  return (await stat(file)).ctimeMs;
}

/**
 * Files that no checkpoint holds, and that were written since: in installed packages, and what else git ignores apart from the output
 * of tools. Read from the time of the last change to an entry, which no program can set. Paths relative to `root`.
 */
export async function strayChanges(
  git: Git,
  places: { root: string; projectRoot: string },
  since: number,
): Promise<string[]> {
  const { root, projectRoot } = places;
  const packages = await changedPackages([...new Set([root, projectRoot])], since);
  const listed = await git.run([
    'ls-files',
    '--others',
    '--ignored',
    '--exclude-standard',
    '-z',
    '--directory',
  ]);
  const ignored = listed.split('\0').filter((file) => file !== '' && !output.test(file));
  const found = await Promise.all(ignored.map((file) => writtenBelow(path.join(root, file), since)));
  const all = [...packages, ...found.flat()].map((file) =>
    path.relative(root, file).replaceAll(path.sep, '/'),
  );
  return [...new Set(all)]
    .filter((file) => !output.test(file) || /(?:^|\/)node_modules\//.test(file))
    .toSorted();
}

/** Files of packages; the folders of tools in `node_modules` (`.cache`, `.vite`) are theirs. */
async function changedPackages(roots: readonly string[], since: number): Promise<string[]> {
  const modules = roots.map((root) => path.join(root, 'node_modules'));
  const found: string[] = [];
  for (const folder of modules) {
    const info = await lstat(folder).catch(() => null);
    if (!info?.isDirectory()) continue;
    for (const entry of await entriesOf(folder)) {
      if (entry.name.startsWith('.')) continue;
      found.push(...(await writtenBelow(path.join(folder, entry.name), since)));
    }
  }
  return found;
}

async function writtenBelow(place: string, since: number): Promise<string[]> {
  const found: string[] = [];
  const next = [place];
  for (let seen = 0, at = next.pop(); at !== undefined && seen < MAX_ENTRIES; at = next.pop(), seen += 1) {
    const info = await lstat(at).catch(() => null);
    if (!info) continue;
    if (info.isDirectory()) {
      for (const { name } of await entriesOf(at)) if (name !== '.git') next.push(path.join(at, name));
    } else if (info.ctimeMs >= since) found.push(at);
  }
  return found;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
