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
import { git, gitBytes, gitRootOf, gitSays } from './git.js';
import { safePath } from './safe-path.js';
import { kindOf } from './file-state.js';
import { isInside } from '../paths.js';
import { tryOr } from '../result.js';

/**
 * The role of a file in an agent's work: `source` can be part of a fix; `ignored` (what git ignores, except `.env` files) and `installed`
 * (packages) are there to work with and are never written back.
 */
type Area = 'source' | 'ignored' | 'installed';

export interface Entry {
  /** Relative to the root, with `/`. */
  readonly path: string;
  /** `other` is a socket or a FIFO, which are listed only in our own folders, to be removed. */
  readonly kind: 'file' | 'link' | 'folder' | 'other';
  readonly area: Area;
  readonly stat: Stats;
}

/** Never copied: repositories, `.self-heal`, and what Playwright writes. */
const skipped = new Set(['.git', '.self-heal', 'test-results', 'playwright-report', 'blob-report']);
/** Caches that tools keep among the packages; they can be large, and are recreated. */
const packageCaches = new Set(['.cache', '.vite', '.vite-temp']);
const packageFolder = /(?:^|\/)(?:node_modules|\.yarn\/(?:cache|unplugged))$/;
const environmentFile = /(?:^|\/)(?:\.env(?:\..+)?|\.envrc|\.dev\.vars)$/;

/**
 * Returns the folder that an agent needs as a whole: the root of the repository or package-manager workspace that contains the project, or else
 * the project. A home folder that is itself a repository (for settings kept in git) does not count.
 */
export async function rootOf(project: string): Promise<string> {
  const top = await git(project, ['rev-parse', '--show-toplevel']);
  const found = top && path.normalize(top.replace(/\n$/, ''));
  // The configuration of a repository may name any folder as its root.
  if (found && found !== homedir() && found === gitRootOf(realpathSync(project))) return found;
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
  return list(root, { folder: '', area: 'source', ignored: new Set() });
}

/** Lists everything below a folder of our own; every entry counts as `source`. */
export async function listAll(root: string): Promise<Entry[]> {
  return list(root, null);
}

interface Place {
  readonly folder: string;
  readonly area: Area;
  readonly ignored: ReadonlySet<string>;
}

async function list(
  root: string,
  place: Place | null,
  { folder = '', turn = turns(), found = [] }: Partial<Listing> = {},
): Promise<Entry[]> {
  await turn();
  const names = tryOr([], () => readdirSync(path.join(root, folder)));
  const here = place && (await withRulesOf(root, place, names.includes('.git')));
  for (const name of names) {
    const file = folder === '' ? name : `${folder}/${name}`;
    const area = here ? areaOf(file, here) : 'source';
    const entry = area && entryOf(root, { file, area, isProject: here !== null });
    if (!entry) continue;
    found.push(entry);
    if (entry.kind === 'folder')
      await list(root, here && { ...here, folder: file, area: entry.area }, { folder: file, turn, found });
  }
  return found;
}

interface Listing {
  folder: string;
  turn: ReturnType<typeof turns>;
  found: Entry[];
}

function entryOf(
  root: string,
  { file, area, isProject }: { file: string; area: Area; isProject: boolean },
): Entry | null {
  return tryOr(null, () => {
    const stat = lstatSync(path.join(root, file));
    const kind = stat.isDirectory() ? 'folder' : (kindOf(stat) ?? (isProject ? null : 'other'));
    const entry: Entry | null = kind && { path: file, kind, area, stat };
    return entry && isProject ? followed(root, entry) : entry;
  });
}

/**
 * Through a link that leads out of the root, an agent could write there. Linked files and linked package folders are therefore copied, and links to
 * other folders are left out (null). Links among packages (to a package manager's store) stay links.
 */
function followed(root: string, entry: Entry): Entry | null {
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
function areaOf(file: string, { area, ignored }: Place): Area | null {
  const name = path.posix.basename(file);
  if (skipped.has(name) && !ignored.has(`!${file}`)) return null;
  if (area === 'installed') return packageCaches.has(name) ? null : area;
  if (packageFolder.test(file)) return 'installed';
  if (environmentFile.test(file)) return 'source';
  return ignored.has(file) ? 'ignored' : area;
}

/** Adds the ignore rules of a repository that starts here; `!path` marks a folder that is tracked although its name is in `skipped`. */
async function withRulesOf(root: string, place: Place, isRepository: boolean): Promise<Place> {
  if (!isRepository || place.area === 'installed') return place;
  const folder = path.join(root, place.folder);
  const under = (file: string) => path.posix.join(place.folder, file.replace(/\/$/, ''));
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  const names = [...skipped].filter((name) => name !== '.git' && name !== '.self-heal');
  const [others, tracked] = await Promise.all([
    git(folder, args),
    git(folder, ['ls-files', '-z', '--', ...names.map((name) => `:(glob)**/${name}/**`)]),
  ]);
  return {
    ...place,
    ignored: new Set([
      ...place.ignored,
      ...split(others).map(under),
      ...split(tracked).flatMap((file) => namedParents(file, names).map((parent) => `!${under(parent)}`)),
    ]),
  };
}

/** Whether only a copy for the work on a project needs a file: git has no part in it, and it is neither a package nor an `.env` file. */
export function isLocal({ area, path: file }: Entry): boolean {
  return area === 'ignored' && !environmentFile.test(file);
}

/** What generators write among the packages, such as `node_modules/.prisma`, and package managers do not. */
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
  const tracked = new Set(split(await git(root, ['ls-files', '-z', '--recurse-submodules'])));
  return new Set(changed.flatMap(({ path: file }) => (tracked.has(file) ? [] : [file])));
}

function namedParents(file: string, names: readonly string[]): string[] {
  const parts = file.split('/');
  return parts.flatMap((part, at) => (names.includes(part) ? [parts.slice(0, at + 1).join('/')] : []));
}

/** Returns why git cannot tell which files of the repository it ignores; null if it can, or if there is no repository. */
export async function whyNoRules(project: string): Promise<string | null> {
  if (gitRootOf(realpathSync(project)) === null) return null;
  // Reads the configuration and the index, and lists nothing.
  return gitBytes(project, ['ls-files', '--', '.git']).then(() => null, gitSays);
}

/** Returns which of these paths the ignore rules of a folder, the project or a copy, cover, whether or not they exist. */
export async function ignoredAmong(root: string, files: readonly string[]): Promise<ReadonlySet<string>> {
  const asked = files.filter((file) => !environmentFile.test(file));
  if (asked.length === 0) return new Set();
  const input = asked.map((file) => `${file}\0`).join('');
  return new Set(split(await git(root, ['check-ignore', '-z', '--stdin'], { input })));
}

/** Whether an agent's change to this path can be part of its fix, judging by its name. */
export function isWritable(file: string): boolean {
  const parts = file.split('/');
  const folders = parts.map((_, at) => parts.slice(0, at + 1).join('/'));
  const isOurs = folders.some((one) => packageFolder.test(one)) || parts.some((part) => skipped.has(part));
  return !isOurs && safePath.safeParse(file).success;
}

function split(text: string | null): string[] {
  return (text ?? '').split('\0').filter((file) => file !== '');
}

const turnMs = 2;

/**
 * For loops of thousands of small synchronous calls, which are cheaper than going through the thread pool. Awaited before each step, the returned
 * function lets the rest of the program run every two milliseconds.
 */
function turns(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < turnMs) return undefined;
    return setImmediate().then(() => void (since = performance.now()));
  };
}
