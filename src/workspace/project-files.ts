import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { git, gitBytes, gitList, findGitRoot, readGitError } from './git.js';
import { createDiskSnapshot, type FileSnapshot } from './git-trees.js';
import { safePath } from './safe-path.js';
import { getFileKind, listParents } from './file-state.js';
import { isInside } from '../paths.js';
import { tryOr } from '../result.js';

/**
 * The role of a file in an agent's copy: `source` can be part of a fix; `ignored` (ignored by git, except `.env` files), `installed` (packages) and
 * `foreign` (of another repository below the root) are only for the agent's work and are never written back.
 */
type Area = 'source' | 'ignored' | 'installed' | 'foreign';

export interface Entry {
  /** Relative to the root, with `/`. */
  readonly path: string;
  /** `other` is a socket or a FIFO. These are listed only in our own folders, to be removed. */
  readonly kind: 'file' | 'link' | 'folder' | 'other';
  readonly area: Area;
  readonly stat: Stats;
}

/** Repositories, `.self-heal`, and Playwright's output. */
const neverCopied = new Set(['.git', '.self-heal', 'test-results', 'playwright-report', 'blob-report']);
/** Caches among the packages, which can be large and are recreated. */
const packageCaches = new Set(['.cache', '.vite', '.vite-temp']);
const packageFolder = /(?:^|\/)(?:node_modules|\.yarn\/(?:cache|unplugged))$/;
const environmentFile = /(?:^|\/)(?:\.env(?:\..+)?|\.envrc|\.dev\.vars)$/;

/**
 * Returns the root of the repository or package-manager workspace that contains the project, or else the project. A home folder that is itself a
 * repository (for settings in git) does not count.
 */
export async function findRoot(project: string): Promise<string> {
  const output = await git(project, ['rev-parse', '--show-toplevel']);
  const top = output && path.normalize(output.replace(/\n$/, ''));
  // The configuration of a repository may name any folder as its root.
  if (top && top !== homedir() && top === findGitRoot(realpathSync(project))) return top;
  for (let folder = realpathSync(project); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    if (folder === homedir()) break;
    if (isWorkspaceRoot(folder)) return folder;
  }
  return realpathSync(project);
}

function isWorkspaceRoot(folder: string): boolean {
  if (existsSync(path.join(folder, 'pnpm-workspace.yaml'))) return true;
  const file = path.join(folder, 'package.json');
  return existsSync(file) && /"workspaces"\s*:/.test(readFileSync(file, 'utf8'));
}

/** Lists the files of a project that an agent may need, without following links. Skips unreadable entries. */
export async function listProject(root: string): Promise<Entry[]> {
  return listEntries(root, { area: 'source', ignored: new Set() });
}

/** Lists all entries below one of our own folders. Every entry counts as `source`. */
export async function listAllEntries(root: string): Promise<Entry[]> {
  return listEntries(root, null);
}

/** Creates a snapshot of the files below one of our own folders. */
export function createFolderSnapshot(root: string): FileSnapshot {
  return createDiskSnapshot(root, async () => listFilePaths(await listAllEntries(root)));
}

/** Creates a snapshot of a project's source files. */
export function createProjectSnapshot(root: string): FileSnapshot {
  return createDiskSnapshot(root, async () =>
    listFilePaths((await listProject(root)).filter(({ area }) => area === 'source')),
  );
}

function listFilePaths(entries: readonly Entry[]): string[] {
  return entries.filter(({ kind }) => kind === 'file').map((entry) => entry.path);
}

/** The rules for the files of a project's folder. */
interface Rules {
  /** The area of files without a rule. */
  readonly area: Area;
  readonly ignored: ReadonlySet<string>;
}

async function listEntries(root: string, rootRules: Rules | null): Promise<Entry[]> {
  const pause = createPeriodicYield();
  const entries: Entry[] = [];
  const visit = async (folder: string, parent: Rules | null): Promise<void> => {
    await pause();
    const names = tryOr([], () => readdirSync(path.join(root, folder)));
    const rules = parent && names.includes('.git') ? await readRepositoryRules(root, folder, parent) : parent;
    for (const name of names) {
      const file = folder === '' ? name : `${folder}/${name}`;
      const area = rules ? determineArea(file, rules) : 'source';
      const entry = area && createEntry(root, { file, area, isProject: rules !== null });
      if (!entry) continue;
      entries.push(entry);
      if (entry.kind === 'folder') await visit(file, rules && { ...rules, area: entry.area });
    }
  };
  await visit('', rootRules);
  return entries;
}

function createEntry(
  root: string,
  { file, area, isProject }: { file: string; area: Area; isProject: boolean },
): Entry | null {
  return tryOr(null, () => {
    const stat = lstatSync(path.join(root, file));
    const kind = stat.isDirectory() ? 'folder' : (getFileKind(stat) ?? (isProject ? null : 'other'));
    const entry: Entry | null = kind && { path: file, kind, area, stat };
    return entry && isProject ? replaceEscapingLink(root, entry) : entry;
  });
}

/**
 * Replaces a link that leads out of the root, because an agent could write through it. The copy gets the linked file or package folder itself; a link
 * to any other folder is dropped (null). Links among packages (to a package manager's store) stay links.
 */
function replaceEscapingLink(root: string, entry: Entry): Entry | null {
  const { kind, area, path: file } = entry;
  const isPackages = packageFolder.test(file);
  if (kind !== 'link' || (area === 'installed' && !isPackages)) return entry;
  const target = tryOr(null, () => realpathSync(path.join(root, file)));
  if (target === null || isInside(realpathSync(root), target)) return entry;
  const stat = statSync(target);
  if (isPackages && stat.isDirectory()) return { ...entry, kind: 'folder', stat };
  return stat.isFile() ? { ...entry, kind: 'file', area: 'ignored', stat } : null;
}

/** Returns the area of a file; null if it is never copied. */
function determineArea(file: string, { area, ignored }: Rules): Area | null {
  const name = path.posix.basename(file);
  if (neverCopied.has(name) && !ignored.has(`!${file}`)) return null;
  if (area === 'installed') return packageCaches.has(name) ? null : area;
  if (packageFolder.test(file)) return 'installed';
  if (area === 'foreign') return ignored.has(file) ? 'ignored' : area;
  if (environmentFile.test(file)) return 'source';
  return ignored.has(file) ? 'ignored' : area;
}

/** Returns the rules for the repository in a folder, with the files that it ignores. `!path` marks a tracked folder whose name is in `neverCopied`. */
async function readRepositoryRules(root: string, folder: string, rules: Rules): Promise<Rules> {
  if (rules.area === 'installed') return rules;
  const toRootPath = (file: string) => path.posix.join(folder, file.replace(/\/$/, ''));
  const options = ['-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  const names = [...neverCopied].filter((name) => name !== '.git' && name !== '.self-heal');
  const [ignored, tracked] = await Promise.all([
    gitList(path.join(root, folder), ['ls-files', ...options]),
    gitList(path.join(root, folder), [
      'ls-files',
      '-z',
      '--',
      ...names.map((name) => `:(glob)**/${name}/**`),
    ]),
  ]);
  const trackedFolders = tracked.flatMap((file) =>
    listParents(file).filter((parent) => names.includes(path.posix.basename(parent))),
  );
  return {
    area: folder === '' || rules.area === 'ignored' ? rules.area : 'foreign',
    ignored: new Set([
      ...rules.ignored,
      ...ignored.map(toRootPath),
      ...trackedFolders.map((parent) => `!${toRootPath(parent)}`),
    ]),
  };
}

/** True if git ignores a file that is neither a package nor an `.env` file. Only a copy for an agent contains it. */
export function isIgnoredByGit({ area, path: file }: Entry): boolean {
  return area === 'ignored' && !environmentFile.test(file);
}

/** The output of generators among the packages, such as `node_modules/.prisma`, which no package manager writes. */
const generatedPackage = /(?:^|\/)node_modules\/\.(?!bin\/|pnpm\/|yarn|package-lock|modules\.)/;

/** Returns the untracked files, without `.env` files and packages, that changed since a time in milliseconds since the epoch. */
export async function listChangedOutsideGit(
  root: string,
  entries: readonly Entry[],
  since: number,
): Promise<ReadonlySet<string>> {
  const changed = entries.filter(
    ({ kind, area, path: file, stat }) =>
      kind !== 'folder' &&
      stat.ctimeMs > since &&
      !environmentFile.test(file) &&
      (area !== 'installed' || generatedPackage.test(file)),
  );
  if (changed.length === 0) return new Set();
  const tracked = new Set(await gitList(root, ['ls-files', '-z', '--recurse-submodules']));
  return new Set(changed.flatMap(({ path: file }) => (tracked.has(file) ? [] : [file])));
}

/** Explains why git cannot read the repository and its ignore rules; null if it can, or if there is no repository. */
export async function explainUnreadableRepository(project: string): Promise<string | null> {
  if (findGitRoot(realpathSync(project)) === null) return null;
  // This reads the configuration and the index, but lists no files.
  return gitBytes(project, ['ls-files', '--', '.git']).then(() => null, readGitError);
}

/**
 * Returns the paths that no fix may write, whether they exist or not: because of their names, because they are in another repository below `root`,
 * or because git ignores them.
 */
export async function findUnwritable(root: string, files: readonly string[]): Promise<ReadonlySet<string>> {
  const isInOtherRepository = (file: string) =>
    listParents(file).some((folder) => existsSync(path.join(root, folder, '.git')));
  const unwritable = files.filter((file) => !isWritable(file) || isInOtherRepository(file));
  const input = files
    .filter((file) => !unwritable.includes(file) && !environmentFile.test(file))
    .map((file) => `${file}\0`)
    .join('');
  const ignored = input === '' ? [] : await gitList(root, ['check-ignore', '-z', '--stdin'], { input });
  return new Set([...unwritable, ...ignored]);
}

/** True if a fix may change a path, judging by its name alone. */
export function isWritable(file: string): boolean {
  const isProtectedPart = (part: string) =>
    packageFolder.test(part) || neverCopied.has(path.posix.basename(part));
  return ![...listParents(file), file].some(isProtectedPart) && safePath.safeParse(file).success;
}

const MAX_BLOCK_MS = 2;

/**
 * Creates a function that lets the rest of the program run every two milliseconds. Await it before each step of a loop with thousands of small
 * synchronous calls, which are cheaper than asynchronous ones.
 */
function createPeriodicYield(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < MAX_BLOCK_MS) return undefined;
    return setImmediate().then(() => void (since = performance.now()));
  };
}
