import path from 'node:path';
import { parsePatch } from 'diff';
import type { BlamedHunk, Hunk } from '../core/blame.js';
import { git } from '../git.js';
import { baseOf } from '../git-trees.js';
import { holds, renamedIn, type Renaming } from './renamed.js';

/** What changed in a project's repository, as far as a question needs it; files are relative to the repository. */
export interface AppChanges {
  /** The change to blame, where it says something of the name; else the changes since the base; and where those say nothing of it, those of the last commit that took it out. */
  hunksAbout(name: string): Promise<readonly Hunk[]>;
  /** The change to blame, whatever it says, and those about a name. */
  changesAbout(name: string, isApp: (file: string) => boolean): Promise<readonly Hunk[]>;
  /** What these made of a name, as far as `isApp` takes a file for one of the app. */
  renaming(name: string, isApp: (file: string) => boolean): Promise<Renaming>;
}

/** Longer than this nobody searches a history, in milliseconds. */
const SEARCH_MS = 5000;
/** A search for a name looks at so many commits of the history, the newest. */
const COMMITS = 1000;
/** Longer lines are generated, and compared with nothing. */
const MAX_LINE = 1000;

const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
const patch = ['--unified=0', '--no-color', '--no-ext-diff', '--no-textconv', '--find-renames', ...prefixes];

/** The changes of the repository around a folder; without one nothing is known of any name. */
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

/** A migration says a rename in words, and takes no line out. */
const renames = /\brename/i;

function tookOut({ old }: Hunk, name: string): boolean {
  return old.some((line) => holds(line, name));
}

/** The hunks of a blamed change, from the repository; a whole file that went may have moved, which git tells. */
export function fromRepository(
  hunks: readonly BlamedHunk[],
  { cwd, root }: { cwd: string; root: string },
): Hunk[] {
  return hunks.flatMap(({ whole, file, old, now }) =>
    whole ? [] : [{ file: path.relative(root, path.resolve(cwd, file)).replaceAll(path.sep, '/'), old, now }],
  );
}

/** What is not committed, and what the branch has that the default branch has not; null without a commit to compare with. */
async function hunksSinceBase(root: string): Promise<readonly Hunk[] | null> {
  const base = await baseOf(root, null);
  const from = typeof base === 'string' ? base : 'HEAD';
  const diff = await git(root, ['diff', ...patch, from, '--']);
  return diff === null ? null : hunksIn(diff);
}

/** What the newest commit changed that took places of a name out; the one that brought it in, say, tells nothing of what it became. */
async function lastChangeOf(root: string, name: string): Promise<readonly Hunk[]> {
  // Not `-S`: `checkout-pay` says `pay` as often as `pay` did.
  const args = ['log', '--max-count=10', `-G${wholeName(name)}`, '--format=%x01', '--patch', ...patch];
  const oldest = (await git(root, ['rev-list', `--skip=${COMMITS}`, '--max-count=1', 'HEAD']))?.trim();
  const range = oldest ? `${oldest}..HEAD` : 'HEAD';
  const found = await git(root, [...args, '--no-merges', range, '--'], { timeoutMs: SEARCH_MS });
  const commits = (found ?? '').split('\u0001').map(hunksIn);
  const tells = (hunk: Hunk) =>
    tookOut(hunk, name) || hunk.now.some((line) => renames.test(line) && holds(line, name));
  return commits.find((hunks) => hunks.some(tells)) ?? [];
}

/** A POSIX expression for the name as a whole, as `holds` takes it. */
function wholeName(name: string): string {
  const [before, after] = [/^[\w$-]/.test(name), /[\w$-]$/.test(name)];
  const quoted = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return `${before ? '(^|[^[:alnum:]_$-])' : ''}${quoted}${after ? '($|[^[:alnum:]_$-])' : ''}`;
}

/** The hunks of a patch as git prints it. */
export function hunksIn(diff: string): Hunk[] {
  return parsePatch(diff).flatMap(({ oldFileName, newFileName, hunks }) => {
    const file = (newFileName === '/dev/null' ? oldFileName : newFileName)?.slice('b/'.length) ?? '';
    return hunks.map(({ lines }) => ({ file, old: linesOf(lines, '-'), now: linesOf(lines, '+') }));
  });
}

function linesOf(lines: readonly string[], sign: '-' | '+'): string[] {
  return lines.flatMap((line) => (line.startsWith(sign) && line.length <= MAX_LINE ? [line.slice(1)] : []));
}
