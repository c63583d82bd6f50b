import { chmodSync, lstatSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeFileAtomic } from '../write-file-atomic.js';

/** The modes of the files of one recorded state that git would not give back (read-only, private to their owner), by path in Latin-1. */
export type Modes = Readonly<Record<string, number>>;

const usual = new Set([0o644, 0o755, 0o664, 0o775]);

/** Finds them; paths are bytes in Latin-1, relative to `root`. Windows knows none. */
export function unusualModes(root: string, paths: readonly string[]): Modes {
  if (process.platform === 'win32') return {};
  const found: Record<string, number> = {};
  for (const file of paths) {
    const info = lstatSync(placeOf(root, file), { throwIfNoEntry: false });
    if (info?.isFile() && !usual.has(info.mode & 0o777)) found[file] = info.mode & 0o777;
  }
  return found;
}

/** Keeps them beside a recorded state. */
export async function keepModes(gitDir: string, checkpoint: string, modes: Modes): Promise<void> {
  if (Object.keys(modes).length === 0) return rm(fileOf(gitDir, checkpoint), { force: true });
  await mkdir(path.join(gitDir, 'modes'), { recursive: true });
  await writeFileAtomic(fileOf(gitDir, checkpoint), JSON.stringify(modes));
}

/** Gives the files their modes of a recorded state. */
export async function restoreModes(
  { gitDir, root }: { gitDir: string; root: string },
  checkpoint: string,
  paths: readonly string[],
): Promise<void> {
  const text = await readFile(fileOf(gitDir, checkpoint), 'utf8').catch(() => '{}');
  const modes = JSON.parse(text) as Modes;
  for (const file of paths) {
    const mode = modes[file];
    if (mode !== undefined) chmodSync(placeOf(root, file), mode);
  }
}

/** A path of bytes in Latin-1, as the file system takes it. */
export function placeOf(root: string, file: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}${path.sep}`), Buffer.from(file, 'latin1')]);
}

function fileOf(gitDir: string, checkpoint: string): string {
  return path.join(gitDir, 'modes', `${checkpoint}.json`);
}
