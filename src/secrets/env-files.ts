import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { secretsOfEnvFile, type KnownValue } from './known-values.js';

const maxBytes = 256 * 1024;
/** Samples hold placeholders that texts are allowed to name. */
const sample = /\.(?:example|sample|template|dist|schema)$/i;

/**
 * The secrets of every `.env*` file in the folder, and in those above it up to the top of its repository. What cannot be
 * read is nobody's secret to us; never rejects.
 */
export async function secretsOfEnvFiles(folder: string): Promise<KnownValue[]> {
  const folders = await upToTheRepository(folder);
  const files = (await Promise.all(folders.map(envFilesIn))).flat();
  const known = await Promise.all(files.map(async (file) => secretsOfEnvFile(await read(file))));
  return known.flat();
}

async function upToTheRepository(folder: string): Promise<string[]> {
  const folders: string[] = [];
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    folders.push(at);
    if (await exists(path.join(at, '.git'))) return folders;
    // No repository: what stands above is none of the project's.
    if (path.dirname(at) === at) return folders.slice(0, 1);
  }
}

async function envFilesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => /^\.env(?:\.|$)/.test(name) && !sample.test(name))
    .map((name) => path.join(folder, name));
}

async function read(file: string): Promise<Record<string, string | undefined>> {
  try {
    const { size } = await stat(file);
    return size > maxBytes ? {} : parseEnv(await readFile(file, 'utf8'));
  } catch {
    return {};
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
