import path from 'node:path';
import { parsePatch } from 'diff';
import type { BlamedHunk, Hunk } from '../core/blame.js';
import { git, gitDiff } from '../git.js';
import { baseOf } from '../git-trees.js';
import { holds, renamedIn, type Renaming } from './renamed.js';
import { relativePath } from '../relative-path.js';

/** Changes in a project's repository, queried by name. File paths are relative to the repository. */
export interface AppChanges {
  /**
   * Returns the change to blame if it removes the name. Otherwise returns the changes since the base that mention the name and, if none of them
   * removes it, also the newest commit that does.
   */
  hunksAbout(name: string): Promise<readonly Hunk[]>;
  /** Returns the change to blame and the changes about a name, in files of the app. */
  changesAbout(name: string, isApp: (file: string) => boolean): Promise<readonly Hunk[]>;
  /** Returns what these changes turned a name into, in files of the app. */
  renaming(name: string, isApp: (file: string) => boolean): Promise<Renaming>;
}

/** How long one search of the history may take, in milliseconds. */
const SEARCH_MS = 5000;
/** How many of the newest commits are searched for a name. */
const COMMITS = 1000;
/** Longer lines are generated code, and are ignored. */
const MAX_LINE = 1000;

const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
const patch = ['--unified=0', '--no-color', '--no-ext-diff', '--no-textconv', '--find-renames', ...prefixes];

/** Opens the changes of the repository around a folder. Outside a repository, there are none. */
export function openAppChanges(root: string, blamed: readonly Hunk[] = []): AppChanges {
  let sinceBase: Promise<readonly Hunk[] | null> | null = null;
  const searched = new Map<string, Promise<readonly Hunk[]>>();
  const hunksAbout = async (name: string) => {
    if (blamed.some((hunk) => tookOut(hunk, name))) return blamed;
    const known = await (sinceBase ??= hunksSinceBase(root));
    if (known === null) return [];
    const about = known.filter(({ old, now }) => [...old, ...now].some((line) => holds(line, name)));
    if (about.some((hunk) => tookOut(hunk, name))) return about;
    const search = searched.get(name) ?? lastChangeOf(root, name);
    searched.set(name, search);
    return [...about, ...(await search)];
  };
  return {
    hunksAbout,
    changesAbout: async (name, isApp) =>
      [...new Set([...blamed, ...(await hunksAbout(name))])].filter(({ file }) => isApp(file)),
    renaming: async (name, isApp) =>
      renamedIn(
        (await hunksAbout(name)).filter(({ file }) => isApp(file)),
        name,
      ),
  };
}

/** A migration renames by statement, without removing a line. */
const renames = /\brename/i;

function tookOut({ old }: Hunk, name: string): boolean {
  return old.some((line) => holds(line, name));
}

/** Converts blamed hunks to paths from the repository. Whole files are left out: a deleted one may have been moved, which git detects. */
export function fromRepository(
  hunks: readonly BlamedHunk[],
  { cwd, root }: { cwd: string; root: string },
): Hunk[] {
  return hunks.flatMap(({ whole, file, old, now }) =>
    whole ? [] : [{ file: relativePath(root, path.resolve(cwd, file)), old, now }],
  );
}

/** Returns uncommitted changes and those of the branch since the default branch; null if there is no commit to compare with. */
async function hunksSinceBase(root: string): Promise<readonly Hunk[] | null> {
  const base = await baseOf(root, null);
  const from = typeof base === 'string' ? base : 'HEAD';
  const diff = await gitDiff(root, [...patch, from, '--']).catch(() => null);
  return diff === null ? null : hunksIn(String(diff));
}

/**
 * Returns the newest commit that removed occurrences of a name, or that renames it in a migration. One that only added it does not
 * tell what it became.
 */
async function lastChangeOf(root: string, name: string): Promise<readonly Hunk[]> {
  // Not `-S`, which counts occurrences of the text: `checkout-pay` contains `pay` as often as `pay` does.
  const args = ['log', '--max-count=10', `-G${wholeName(name)}`, '--format=%x01', '--patch', ...patch];
  const oldest = (await git(root, ['rev-list', `--skip=${COMMITS}`, '--max-count=1', 'HEAD']))?.trim();
  const range = oldest ? `${oldest}..HEAD` : 'HEAD';
  const found = await git(root, [...args, '--no-merges', range, '--'], { timeoutMs: SEARCH_MS });
  const commits = (found ?? '').split('\u0001').map(hunksIn);
  const tells = (hunk: Hunk) =>
    tookOut(hunk, name) || hunk.now.some((line) => renames.test(line) && holds(line, name));
  return commits.find((hunks) => hunks.some(tells)) ?? [];
}

/** Returns a POSIX expression that matches the name as a whole, as `holds` does. */
function wholeName(name: string): string {
  const [before, after] = [/^[\w$-]/.test(name), /[\w$-]$/.test(name)];
  const quoted = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return `${before ? '(^|[^[:alnum:]_$-])' : ''}${quoted}${after ? '($|[^[:alnum:]_$-])' : ''}`;
}

/** Parses the hunks of a patch in git's format. */
export function hunksIn(diff: string): Hunk[] {
  return parsePatch(diff).flatMap(({ oldFileName, newFileName, hunks }) => {
    const file = (newFileName === '/dev/null' ? oldFileName : newFileName)?.slice('b/'.length) ?? '';
    return hunks.map(({ lines }) => ({ file, old: linesOf(lines, '-'), now: linesOf(lines, '+') }));
  });
}

function linesOf(lines: readonly string[], sign: '-' | '+'): string[] {
  return lines.flatMap((line) => (line.startsWith(sign) && line.length <= MAX_LINE ? [line.slice(1)] : []));
}
