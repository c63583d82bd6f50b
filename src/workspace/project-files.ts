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
import { git, gitBytes, gitList, gitRootOf, gitSays } from './git.js';
import { safePath } from './safe-path.js';
import { kindOf, parentsOf } from './file-state.js';
import { isInside } from '../paths.js';
import { tryOr } from '../result.js';

/**
 * The role of a file in an agent's work: `source` can be part of a fix; `ignored` (what git ignores, except `.env` files), `installed` (packages) and
 * `foreign` (of another repository below the root) are there to work with and are never written back.
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

/** Never copied: repositories, `.self-heal`, and Playwright's output. */
const skipped = new Set(['.git', '.self-heal', 'test-results', 'playwright-report', 'blob-report']);
/** Caches among the packages, which can be large and are recreated. */
const packageCaches = new Set(['.cache', '.vite', '.vite-temp']);
const packageFolder = /(?:^|\/)(?:node_modules|\.yarn\/(?:cache|unplugged))$/;
const environmentFile = /(?:^|\/)(?:\.env(?:\..+)?|\.envrc|\.dev\.vars)$/;

/**
 * Returns the root of the repository or package-manager workspace that contains the project, or else the project. A home folder that is itself a
 * repository (for settings in git) does not count.
 */
export async function rootOf(project: string): Promise<string> {
  const output = await git(project, ['rev-parse', '--show-toplevel']);
  const top = output && path.normalize(output.replace(/\n$/, ''));
  // The configuration of a repository may name any folder as its root.
  if (top && top !== homedir() && top === gitRootOf(realpathSync(project))) return top;
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

/** Lists a project: everything that an agent may need, without following links. Unreadable entries are left out. */
export async function listProject(root: string): Promise<Entry[]> {
  return list(root, { area: 'source', ignored: new Set() });
}

/** Lists everything below a folder of our own. Every entry counts as `source`. */
export async function listAll(root: string): Promise<Entry[]> {
  return list(root, null);
}

/** The rules for the files of a project's folder. */
interface Rules {
  /** The area of files without a rule. */
  readonly area: Area;
  readonly ignored: ReadonlySet<string>;
}

async function list(root: string, rules: Rules | null): Promise<Entry[]> {
  const pause = pauses();
  const entries: Entry[] = [];
  const visit = async (folder: string, above: Rules | null): Promise<void> => {
    await pause();
    const names = tryOr([], () => readdirSync(path.join(root, folder)));
    const here = above && names.includes('.git') ? await rulesOfRepository(root, folder, above) : above;
    for (const name of names) {
      const file = folder === '' ? name : `${folder}/${name}`;
      const area = here ? areaOf(file, here) : 'source';
      const entry = area && entryOf(root, { file, area, isProject: here !== null });
      if (!entry) continue;
      entries.push(entry);
      if (entry.kind === 'folder') await visit(file, here && { ...here, area: entry.area });
    }
  };
  await visit('', rules);
  return entries;
}

function entryOf(
  root: string,
  { file, area, isProject }: { file: string; area: Area; isProject: boolean },
): Entry | null {
  return tryOr(null, () => {
    const stat = lstatSync(path.join(root, file));
    const kind = stat.isDirectory() ? 'folder' : (kindOf(stat) ?? (isProject ? null : 'other'));
    const entry: Entry | null = kind && { path: file, kind, area, stat };
    return entry && isProject ? withoutEscape(root, entry) : entry;
  });
}

/**
 * Replaces a link that leads out of the root, because an agent could write there through it. The copy gets the linked file or package folder
 * itself; a link to another folder is left out (null). Links among packages (to a package manager's store) stay links.
 */
function withoutEscape(root: string, entry: Entry): Entry | null {
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
function areaOf(file: string, { area, ignored }: Rules): Area | null {
  const name = path.posix.basename(file);
  if (skipped.has(name) && !ignored.has(`!${file}`)) return null;
  if (area === 'installed') return packageCaches.has(name) ? null : area;
  if (packageFolder.test(file)) return 'installed';
  if (area === 'foreign') return ignored.has(file) ? 'ignored' : area;
  if (environmentFile.test(file)) return 'source';
  return ignored.has(file) ? 'ignored' : area;
}

/** Returns the rules for the repository in a folder, with the files that it ignores. `!path` marks a folder that is tracked although its name is in `skipped`. */
async function rulesOfRepository(root: string, folder: string, rules: Rules): Promise<Rules> {
  if (rules.area === 'installed') return rules;
  const under = (file: string) => path.posix.join(folder, file.replace(/\/$/, ''));
  const options = ['-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  const names = [...skipped].filter((name) => name !== '.git' && name !== '.self-heal');
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
    parentsOf(file).filter((parent) => names.includes(path.posix.basename(parent))),
  );
  return {
    area: folder === '' || rules.area === 'ignored' ? rules.area : 'foreign',
    ignored: new Set([
      ...rules.ignored,
      ...ignored.map(under),
      ...trackedFolders.map((parent) => `!${under(parent)}`),
    ]),
  };
}

/** Whether a file is ignored by git, and neither a package nor an `.env` file, so that only a copy for an agent needs it. */
export function isLocal({ area, path: file }: Entry): boolean {
  return area === 'ignored' && !environmentFile.test(file);
}

/** The output of generators among the packages, such as `node_modules/.prisma`, which no package manager writes. */
const generated = /(?:^|\/)node_modules\/\.(?!bin\/|pnpm\/|yarn|package-lock|modules\.)/;

/** Returns the files that git does not track, without `.env` files and packages, that changed since a time in milliseconds since the epoch. */
export async function changedOutsideGit(
  root: string,
  entries: readonly Entry[],
  since: number,
): Promise<ReadonlySet<string>> {
  const changed = entries.filter(
    ({ kind, area, path: file, stat }) =>
      kind !== 'folder' &&
      stat.ctimeMs > since &&
      !environmentFile.test(file) &&
      (area !== 'installed' || generated.test(file)),
  );
  if (changed.length === 0) return new Set();
  const tracked = new Set(await gitList(root, ['ls-files', '-z', '--recurse-submodules']));
  return new Set(changed.flatMap(({ path: file }) => (tracked.has(file) ? [] : [file])));
}

/** Returns the reason why git cannot read the repository and its ignore rules; null if it can, or if there is no repository. */
export async function whyNoRules(project: string): Promise<string | null> {
  if (gitRootOf(realpathSync(project)) === null) return null;
  // This reads the configuration and the index, and lists nothing.
  return gitBytes(project, ['ls-files', '--', '.git']).then(() => null, gitSays);
}

/**
 * Returns those of these paths that no fix may write, whoever proposes it and whether or not they exist: by their names, in another repository below
 * the root (the project's or a copy's), and what git ignores.
 */
export async function unwritableAmong(root: string, files: readonly string[]): Promise<ReadonlySet<string>> {
  const isInOther = (file: string) =>
    parentsOf(file).some((folder) => existsSync(path.join(root, folder, '.git')));
  const never = files.filter((file) => !isWritable(file) || isInOther(file));
  const input = files
    .filter((file) => !never.includes(file) && !environmentFile.test(file))
    .map((file) => `${file}\0`)
    .join('');
  const ignored = input === '' ? [] : await gitList(root, ['check-ignore', '-z', '--stdin'], { input });
  return new Set([...never, ...ignored]);
}

/** Whether a fix may change this path, by the name alone. */
export function isWritable(file: string): boolean {
  const isNever = (part: string) => packageFolder.test(part) || skipped.has(path.posix.basename(part));
  return ![...parentsOf(file), file].some(isNever) && safePath.safeParse(file).success;
}

const MAX_BLOCK_MS = 2;

/**
 * For loops of thousands of small synchronous calls, which are cheaper than asynchronous ones. Awaited before each step, the returned function
 * lets the rest of the program run every two milliseconds.
 */
function pauses(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < MAX_BLOCK_MS) return undefined;
    return setImmediate().then(() => void (since = performance.now()));
  };
}
