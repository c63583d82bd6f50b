import type { Blame, BlamedCommit, BlamedHunk, Hunk } from '../../model/blame.js';
import { shortId } from '../../model/blame.js';
import { compareFile } from '../../workspace/hunks.js';

/** A file of a fix. Paths are relative to the project's root, texts have one character per byte or are decoded; null if the file does not exist. */
export interface EditedFile {
  readonly file: string;
  readonly before: string | null;
  readonly after: string | null;
  /** What it was when the test was green; null if it did not exist, or that is not known. */
  readonly green?: string | null;
}

/** What a fix takes back of a blamed change. */
export interface RevertedLines {
  readonly how: 'all' | 'part';
  /** Whether it takes back all of the blamed hunks, whatever else their commits changed. */
  readonly isWhole: boolean;
  /** The commits, as `abc1234 "subject"`, or what is not committed. */
  readonly of: string;
  /** The first of the blamed hunks: its file, and its line now. */
  readonly at: { readonly file: string; readonly line: number };
  /** The texts and the markup that it restores and that the blamed change had taken out. */
  readonly texts: readonly string[];
}

/**
 * Returns what a fix takes back of the change that broke a test: all of it, with whatever else was changed in the same commits, or a part.
 * Null if it keeps the change, perhaps mended. Changes to the tests do not count.
 */
export function revertedLines(
  { hunks, rest }: Pick<Blame, 'hunks' | 'rest'>,
  edited: readonly EditedFile[],
): RevertedLines | null {
  const ofApp = hunks.filter(({ inTests }) => !inTests);
  const [first] = ofApp;
  const all = [...ofApp, ...rest].filter((hunk) => keysOf(hunk.old).length + keysOf(hunk.now).length > 0);
  if (!first) return null;
  const at = { file: first.file, line: first.line };
  const fixes = new Map(edited.map((fix) => [fix.file, fix]));
  const taken = all.map((hunk) => takenBack(hunk, fixes.get(hunk.file)));
  const texts = ofApp.flatMap((hunk) => restoredTexts(hunk, fixes.get(hunk.file)));
  const of = namesOf(ofApp.map(({ commit }) => commit));
  const isWhole = ofApp.every((hunk) => takenBack(hunk, fixes.get(hunk.file)) === 'all');
  if (taken.every((extent) => extent === 'all')) return { how: 'all', isWhole, of, at, texts };
  return taken.some((extent) => extent !== null) || texts.length > 0
    ? { how: 'part', isWhole, of, at, texts }
    : null;
}

/**
 * Returns what a fix takes back of what changed lately, where no search has said which change broke the test: those hunks that it takes back whole. Null
 * if there is none.
 */
export function revertedLinesAmong(
  hunks: readonly BlamedHunk[],
  edited: readonly EditedFile[],
): RevertedLines | null {
  const back = hunks.filter((hunk) => revertedLines({ hunks: [hunk], rest: [] }, edited)?.isWhole);
  return revertedLines({ hunks: back, rest: [] }, edited);
}

function namesOf(commits: readonly (BlamedCommit | null)[]): string {
  const names = commits.map((commit) =>
    commit ? `${shortId(commit.id)} "${commit.subject}"` : 'what is not committed',
  );
  return [...new Set(names)].join(' and ');
}

/** How much of a hunk a fix takes back: the lines that it took out are there again, and those that it added are gone. */
function takenBack({ old, now, file }: Hunk, fix: EditedFile | undefined): 'all' | 'part' | null {
  if (!fix) return null;
  if (isRestored(fix)) return 'all';
  const [was, is] = [counted(keysOf(old)), counted(keysOf(now))];
  const [before, after] = [counted(keysIn(fix.before)), counted(keysIn(fix.after))];
  const lost = [...was].filter(([key, times]) => times > (is.get(key) ?? 0));
  const added = [...is].filter(([key, times]) => times > (was.get(key) ?? 0));
  const back = lost.filter(
    ([key, times]) => (after.get(key) ?? 0) - (before.get(key) ?? 0) >= times - (is.get(key) ?? 0),
  );
  const gone = added.filter(
    ([key, times]) => (before.get(key) ?? 0) - (after.get(key) ?? 0) >= times - (was.get(key) ?? 0),
  );
  // A line that was only added may have been corrected: it is taken back only if nothing replaces it.
  if (lost.length === 0 && gone.some(([key]) => isReplaced(key, { ...fix, file }))) return null;
  if (back.length === lost.length && gone.length === added.length) return 'all';
  return back.length > 0 || (lost.length === 0 && gone.length > 0) ? 'part' : null;
}

/** Whether a file is with a fix what it was when the test was green. */
function isRestored({ after, green }: EditedFile): boolean {
  return typeof green === 'string' && keysIn(after).join('\n') === keysIn(green).join('\n');
}

function isReplaced(key: string, { file, before, after }: EditedFile): boolean {
  const { hunks } = compareFile(file, before, after);
  return hunks.some(({ old, now, whole }) => {
    const was = keysOf(old);
    return !whole && was.includes(key) && keysOf(now).some((line) => !was.includes(line));
  });
}

/** Returns the texts and the markup of a hunk's old lines that its new lines lack, and that a fix restores in the file. */
function restoredTexts({ old, now }: Hunk, fix: EditedFile | undefined): string[] {
  if (!fix) return [];
  const still = new Set(textPieces(now));
  const lost = [...new Set(textPieces(old))].filter((piece) => !still.has(piece));
  const [before, after] = [fix.before, fix.after].map((text) => counted(textPieces(text?.split('\n') ?? [])));
  return lost.filter((piece) => (after?.get(piece) ?? 0) > (before?.get(piece) ?? 0));
}

/** Returns what stands between quotes, tags and braces: texts, attributes, names of elements. */
function textPieces(lines: readonly string[]): string[] {
  return lines
    .flatMap((line) => line.split(/["'`<>{}]/))
    .map((piece) => piece.trim())
    .filter((piece) => /[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(piece));
}

function keysIn(text: string | null): string[] {
  return keysOf(text?.split(/\r?\n/) ?? []);
}

/** Returns what counts of each line: not how it is spaced and quoted, and no lines of brackets alone. */
function keysOf(lines: readonly string[]): string[] {
  return lines
    .map((line) => line.replaceAll(/["'`]/g, '"').replaceAll(/\s+|[;,]+\s*$/g, ''))
    .filter((key) => /[\p{L}\p{N}]/u.test(key));
}

function counted(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
