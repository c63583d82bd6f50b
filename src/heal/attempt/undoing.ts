import { compareFile, type ExactHunk } from '../../workspace/hunks.js';

/** A file of a fix in three states, with `\n` as the only line end; null where it does not exist. */
export interface FixedFile {
  readonly path: string;
  /** When the test was green; absent if that is not known. */
  readonly green?: string | null;
  /** Before the fix, and with it. */
  readonly red: string | null;
  readonly now: string | null;
}

/** A change since the test was green that a fix takes back. */
export interface RevertedHunk {
  readonly hunk: ExactHunk;
  /** Whether all of its lines are as they were, not only some. */
  readonly isWhole: boolean;
  /** The texts and the markup that the change had taken out and that the fix restores. */
  readonly texts: readonly string[];
}

/** Returns the changes to a file since the test was green that a fix takes back, wholly or in part. One that it keeps, perhaps mended, is not among them. */
export function revertedHunks({ path, green = null, red, now }: FixedFile): RevertedHunk[] {
  const fixes = compareFile(path, red, now).hunks;
  const isRestored = linesIn(now).join('\n') === linesIn(green).join('\n');
  return compareFile(path, green, red).hunks.flatMap((hunk) => {
    const fix = joined(fixes.filter((other) => touch(hunk, other)));
    const texts = restoredTexts(hunk, fix);
    const extent = isRestored && hasWords(hunk) ? 'all' : takenBack(hunk, fix);
    return extent === null && texts.length === 0 ? [] : [{ hunk, isWhole: extent === 'all', texts }];
  });
}

type Lines = Pick<ExactHunk, 'old' | 'now'>;

/** Whether a fix edits the lines that a change left, or those beside them. */
function touch({ newStart, now }: ExactHunk, fix: ExactHunk): boolean {
  return newStart <= fix.oldStart + fix.old.length && fix.oldStart <= newStart + now.length;
}

function joined(hunks: readonly ExactHunk[]): Lines {
  return { old: hunks.flatMap(({ old }) => old), now: hunks.flatMap(({ now }) => now) };
}

const hasWords = ({ old, now }: Lines) => keysOf([...old, ...now]).length > 0;

/** How much of a change a fix takes back: the lines that it took out are there again, and those that it added are gone. */
function takenBack(change: Lines, fix: Lines): 'all' | 'part' | null {
  const lost = surplus(keysOf(change.old), keysOf(change.now));
  const added = surplus(keysOf(change.now), keysOf(change.old));
  const restored = surplus(keysOf(fix.now), keysOf(fix.old));
  const removed = surplus(keysOf(fix.old), keysOf(fix.now));
  const back = [...lost].filter(([key, times]) => (restored.get(key) ?? 0) >= times);
  const gone = [...added].filter(([key, times]) => (removed.get(key) ?? 0) >= times);
  // Lines that were only added may have been corrected: they are taken back only if nothing replaces them.
  if (lost.size === 0 && restored.size > 0) return null;
  if (lost.size + added.size > 0 && back.length === lost.size && gone.length === added.size) return 'all';
  return back.length > 0 || (lost.size === 0 && gone.length > 0) ? 'part' : null;
}

function restoredTexts(change: Lines, fix: Lines): string[] {
  const lost = surplus(textPieces(change.old), textPieces(change.now));
  const restored = surplus(textPieces(fix.now), textPieces(fix.old));
  return [...lost.keys()].filter((piece) => restored.has(piece));
}

/** Returns what stands between quotes, tags and braces: texts, attributes, names of elements. */
function textPieces(lines: readonly string[]): string[] {
  return lines
    .flatMap((line) => line.split(/["'`<>{}]/))
    .map((piece) => piece.trim())
    .filter((piece) => /[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(piece));
}

function linesIn(text: string | null): string[] {
  return keysOf(text?.split('\n') ?? []);
}

/** Returns what counts of each line: not how it is spaced and quoted, and no lines of brackets alone. */
function keysOf(lines: readonly string[]): string[] {
  return lines
    .map((line) => line.replaceAll(/["'`]/g, '"').replaceAll(/\s+|[;,]+\s*$/g, ''))
    .filter((key) => /[\p{L}\p{N}]/u.test(key));
}

/** Counts what the first list has more often than the second. */
function surplus(first: readonly string[], second: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of first) counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const key of second) counts.set(key, (counts.get(key) ?? 0) - 1);
  return new Map([...counts].filter(([, times]) => times > 0));
}
