import { diffArrays, parsePatch } from 'diff';
import escapeStringRegexp from 'escape-string-regexp';
import type { Hunk } from '../../model/blame.js';
import { git, gitDiff } from '../../workspace/git.js';
import { findBase } from '../../workspace/git-trees.js';

/** The new name, and the file in which the app was changed. */
export interface Rename {
  readonly newName: string;
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
        const newNames = candidates.filter((candidate) => isReplacement(name, candidate, [line, changed]));
        if (newNames.length > 0) added.delete(changed);
        renames.push(...newNames.map((candidate) => ({ newName: candidate, file })));
      }
    }
    // The name was moved, not replaced.
    if ([...added].some((line) => containsName(line, name))) return null;
  }
  const [first] = renames;
  return first && renames.every(({ newName }) => newName === first.newName) ? first : null;
}

/** True if a line has the new name exactly where it had the old one, and most of its other words are the same. */
function isReplacement(
  name: string,
  newName: string,
  [before, after]: readonly [before: string, after: string],
): boolean {
  const old = splitTokens(before, name);
  const parts = diffArrays(old, splitTokens(after, newName));
  const unchanged = parts.reduce(
    (sum, { added, removed, value }) => sum + (added || removed ? 0 : value.length),
    0,
  );
  const otherTokens = old.filter((token) => token !== name).length;
  return (
    unchanged >= otherTokens / 2 &&
    parts.some((part, index) => {
      const next = parts[index + 1];
      return (
        part.removed && next?.added && isSingleToken(part.value, name) && isSingleToken(next.value, newName)
      );
    })
  );
}

function isSingleToken(tokens: readonly string[], token: string): boolean {
  return tokens.length === 1 && tokens[0] === token;
}

function splitTokens(line: string, name: string): string[] {
  return line.match(new RegExp(`${createWordPattern(name)}|${word}+|\\S`, 'gu')) ?? [];
}

/** How long one search of the history may take, in milliseconds. */
const SEARCH_MS = 5000;
/** How many of the newest commits to search for a name, and how many of the commits that mention it to read. */
const MAX_COMMITS = 1000;
const MAX_MENTIONS = 20;
/** Longer lines are generated code, and are ignored. */
const MAX_LINE = 1000;

const diffOptions = [
  '--unified=0',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

/**
 * Finds the change that removed a name: in the blamed hunks, in the diff from the default branch, or in the newest commit that did. Paths are relative
 * to the repository. Returns no changes if there is no repository.
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
  const branchHunks = parseHunks(String(await gitDiff(root, [...diffOptions, from, '--']).catch(() => '')));
  if (removesName(branchHunks)) return branchHunks;
  const oldest = (await git(root, ['rev-list', `--skip=${MAX_COMMITS}`, '--max-count=1', 'HEAD']))?.trim();
  const range = oldest ? `${oldest}..HEAD` : 'HEAD';
  // Not `-S`: renaming `pay` to `checkout-pay` leaves the number of occurrences unchanged.
  const searchOption = `-G${name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`;
  const args = [
    'log',
    `--max-count=${MAX_MENTIONS}`,
    searchOption,
    '--format=%x01',
    '-p',
    '--no-merges',
    ...diffOptions,
  ];
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
