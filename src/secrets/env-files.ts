import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'dotenv';
import { expand } from 'dotenv-expand';
import { gitRootOf } from '../git-root.js';
import { secretsOfEnvFile, type KnownValue } from './known-values.js';

const maxBytes = 256 * 1024;
const mostFolders = 2000;
const deepest = 4;
/** Sample files hold placeholders, which may appear in any text. */
const sample = /[.-](?:example|sample|template|dist|schema|defaults)$/i;
const envFile = /^(?:\.env(?:[.-].*)?|\.envrc|\.dev\.vars(?:\..*)?|[\w.-]+\.env)$/;
/** Folders that contain no package of the project itself. */
const notOurs =
  /^(?:node_modules|dist|build|out|coverage|vendor|target|test-results|playwright-report|\..*)$/;

/**
 * Returns the secrets of every environment file in the project, in the packages below it, and in the folders above it up to the
 * root of its repository. Files that cannot be read are ignored; never rejects.
 */
export async function secretsOfEnvFiles(folder: string): Promise<KnownValue[]> {
  const root = path.resolve(folder);
  const folders = [...upToTheRepository(root), ...(await packagesBelow(root))];
  const files = (await Promise.all(folders.map(envFilesIn))).flat();
  const known = await Promise.all(files.map(async (file) => secretsOfEnvFile(await read(file))));
  return known.flat();
}

/** Outside a repository, the folders above do not belong to the project. */
function upToTheRepository(folder: string): string[] {
  const root = gitRootOf(folder) ?? folder;
  return folder === root ? [folder] : [folder, ...upToTheRepository(path.dirname(folder))];
}

async function packagesBelow(folder: string): Promise<string[]> {
  const folders: string[] = [];
  let level = [folder];
  for (let depth = 0; depth < deepest && folders.length < mostFolders; depth += 1) {
    level = (await Promise.all(level.map(foldersIn))).flat().slice(0, mostFolders);
    folders.push(...level);
  }
  return folders;
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !notOurs.test(entry.name))
    .map((entry) => path.join(folder, entry.name));
}

async function envFilesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => envFile.test(name) && !sample.test(name))
    .map((name) => path.join(folder, name));
}

/** Reads each variable in three forms, since any of them may be printed: as written, with escapes undone, and with `${NAME}` expanded. */
async function read(file: string): Promise<readonly (readonly [name: string, value: string])[]> {
  try {
    const { size } = await stat(file);
    if (size > maxBytes) return [];
    const written = parse(await readFile(file));
    const expanded = expand({ parsed: { ...written }, processEnv: {} }).parsed ?? {};
    const plain = Object.entries(written).map(
      ([name, value]) => [name, value.replace(/\\(["'`$\\])/g, '$1')] as const,
    );
    return [...Object.entries(written), ...plain, ...Object.entries(expanded)];
  } catch {
    return [];
  }
}
