import { diffArrays, parsePatch } from 'diff';
import escapeStringRegexp from 'escape-string-regexp';
import type { Hunk } from '../../model/blame.js';
import { git, gitDiff } from '../../workspace/git.js';
import { findBase } from '../../workspace/git-trees.js';

/** The new name, and the file in which the app was changed. */
export interface Rename {
  readonly to: string;
  readonly file: string;
}

const word = String.raw`[\p{L}\p{N}_$-]`;

/** Creates a pattern for a whole name: it does not find `pay` in `pay-later`. */
function createWordPattern(name: string): string {
  const isWord = (text: string) => new RegExp(`^${word}$`, 'u').test(text);
  const before = isWord(name[0] ?? '') ? `(?<!${word})` : '';
  const after = isWord(name.at(-1) ?? '') ? `(?!${word})` : '';
  return `${before}${escapeStringRegexp(name)}${after}`;
}

/** True if a text contains a whole name. */
export function containsName(text: string, name: string): boolean {
  return name !== '' && new RegExp(createWordPattern(name), 'u').test(text);
}

/** Returns the candidate that replaced a name in these changes; null if several did, or if an added line still has the name. */
export function findRename(
  hunks: readonly Hunk[],
  name: string,
  candidates: readonly string[],
): Rename | null {
  const renames: Rename[] = [];
  for (const { file, old, now } of hunks) {
    const added = new Set(now);
    for (const [index, line] of old.entries()) {
      const aligned = old.length === now.length ? now.slice(index, index + 1) : now;
      for (const changed of containsName(line, name) ? aligned : []) {
        const to = candidates.filter((candidate) => isReplacement(name, candidate, [line, changed]));
        if (to.length > 0) added.delete(changed);
        renames.push(...to.map((candidate) => ({ to: candidate, file })));
      }
    }
    // The name was moved, not replaced.
    if ([...added].some((line) => containsName(line, name))) return null;
  }
  const [first] = renames;
  return first && renames.every(({ to }) => to === first.to) ? first : null;
}

/** True if a line has the new name exactly where it had the old one, and most of its other words are the same. */
function isReplacement(
  name: string,
  to: string,
  [before, after]: readonly [before: string, after: string],
): boolean {
  const old = splitTokens(before, name);
  const parts = diffArrays(old, splitTokens(after, to));
  const unchanged = parts.reduce(
    (sum, { added, removed, value }) => sum + (added || removed ? 0 : value.length),
    0,
  );
  const others = old.filter((token) => token !== name).length;
  return (
    unchanged >= others / 2 &&
    parts.some((part, index) => {
      const next = parts[index + 1];
      return part.removed && next?.added && isOnly(part.value, name) && isOnly(next.value, to);
    })
  );
}

function isOnly(tokens: readonly string[], token: string): boolean {
  return tokens.length === 1 && tokens[0] === token;
}

function splitTokens(line: string, name: string): string[] {
  return line.match(new RegExp(`${createWordPattern(name)}|${word}+|\\S`, 'gu')) ?? [];
}

/** How long one search of the history may take, in milliseconds. */
const SEARCH_MS = 5000;
/** The maximum number of newest commits to search for a name, and of those among them to read that mention it. */
const MAX_COMMITS = 1000;
const MAX_READ = 20;
/** Longer lines are generated code, and are ignored. */
const MAX_LINE = 1000;

const options = [
  '--unified=0',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

/**
 * Finds the change that removed a name: in the blamed hunks, in the difference from the default branch, or in the newest such commit. Paths are
 * relative to the repository. Without a repository, there are no changes.
 */
export async function findRemovingChanges(
  name: string,
  root: string,
  blamed: readonly Hunk[],
): Promise<readonly Hunk[]> {
  const removesName = (hunks: readonly Hunk[]) =>
    hunks.some(({ old }) => old.some((line) => containsName(line, name)));
  if (removesName(blamed)) return blamed;
  const base = await findBase(root, null);
  const from = typeof base === 'string' ? base : 'HEAD';
  const since = parseHunks(String(await gitDiff(root, [...options, from, '--']).catch(() => '')));
  if (removesName(since)) return since;
  const oldest = (await git(root, ['rev-list', `--skip=${MAX_COMMITS}`, '--max-count=1', 'HEAD']))?.trim();
  const range = oldest ? `${oldest}..HEAD` : 'HEAD';
  // Not `-S`: renaming `pay` to `checkout-pay` leaves the number of occurrences unchanged.
  const wanted = `-G${name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`;
  const args = ['log', `--max-count=${MAX_READ}`, wanted, '--format=%x01', '-p', '--no-merges', ...options];
  const log = await git(root, [...args, range, '--'], { timeoutMs: SEARCH_MS });
  return (log ?? '').split('\u0001').map(parseHunks).find(removesName) ?? [];
}

/** Parses the hunks of a patch in git's format. */
export function parseHunks(diff: string): Hunk[] {
  return parsePatch(diff).flatMap(({ oldFileName, newFileName, hunks }) => {
    const file = (newFileName === '/dev/null' ? oldFileName : newFileName)?.slice('b/'.length) ?? '';
    return hunks.map(({ lines }) => ({
      file,
      old: listChangedLines(lines, '-'),
      now: listChangedLines(lines, '+'),
    }));
  });
}

function listChangedLines(lines: readonly string[], sign: '-' | '+'): string[] {
  return lines.flatMap((line) => (line.startsWith(sign) && line.length <= MAX_LINE ? [line.slice(1)] : []));
}
