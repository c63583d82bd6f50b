import { compareFile, type ExactHunk } from '../../workspace/hunks.js';

/** A file of a fix in three states, with `\n` as the only line ending; null where it does not exist. */
export interface FixedFile {
  readonly path: string;
  /** When the test was green; absent if unknown. */
  readonly green?: string | null;
  /** Before the fix, and with it. */
  readonly red: string | null;
  readonly now: string | null;
}

/** A hunk that was changed after the test was last green, and that a fix changes back. */
export interface RevertedHunk {
  readonly hunk: ExactHunk;
  /** True if all lines are as they were, not only some. */
  readonly isWhole: boolean;
  /** The texts and markup that the change had removed and the fix restores. */
  readonly texts: readonly string[];
}

/** Returns the hunks that were changed after the test was green and that a fix changes back, wholly or in part; not those that it keeps or corrects. */
export function findRevertedHunks({ path, green = null, red, now }: FixedFile): RevertedHunk[] {
  const fixes = compareFile(path, red, now).hunks;
  const isRestored = splitLines(now).join('\n') === splitLines(green).join('\n');
  return compareFile(path, green, red).hunks.flatMap((hunk) => {
    const fix = joinHunks(fixes.filter((other) => areAdjacent(hunk, other)));
    const texts = listRestoredTexts(hunk, fix);
    const extent = isRestored && hasWords(hunk) ? 'all' : measureRevert(hunk, fix);
    return extent === null && texts.length === 0 ? [] : [{ hunk, isWhole: extent === 'all', texts }];
  });
}

type Lines = Pick<ExactHunk, 'old' | 'now'>;

/** True if a fix edits lines of a change, or lines next to them. */
function areAdjacent({ newStart, now }: ExactHunk, fix: ExactHunk): boolean {
  return newStart <= fix.oldStart + fix.old.length && fix.oldStart <= newStart + now.length;
}

function joinHunks(hunks: readonly ExactHunk[]): Lines {
  return { old: hunks.flatMap(({ old }) => old), now: hunks.flatMap(({ now }) => now) };
}

const hasWords = ({ old, now }: Lines) => normalizeLines([...old, ...now]).length > 0;

/** Returns how much of a change a fix reverts: restores the lines that the change removed, and removes those that it added. */
function measureRevert(change: Lines, fix: Lines): 'all' | 'part' | null {
  const lost = countSurplus(normalizeLines(change.old), normalizeLines(change.now));
  const added = countSurplus(normalizeLines(change.now), normalizeLines(change.old));
  const restored = countSurplus(normalizeLines(fix.now), normalizeLines(fix.old));
  const removed = countSurplus(normalizeLines(fix.old), normalizeLines(fix.now));
  const restoredLines = [...lost].filter(([key, times]) => (restored.get(key) ?? 0) >= times);
  const removedLines = [...added].filter(([key, times]) => (removed.get(key) ?? 0) >= times);
  // A change that only added lines may have been corrected: it counts as reverted only if nothing replaces the lines.
  if (lost.size === 0 && restored.size > 0) return null;
  if (lost.size + added.size > 0 && restoredLines.length === lost.size && removedLines.length === added.size)
    return 'all';
  return restoredLines.length > 0 || (lost.size === 0 && removedLines.length > 0) ? 'part' : null;
}

function listRestoredTexts(change: Lines, fix: Lines): string[] {
  const lost = countSurplus(splitTexts(change.old), splitTexts(change.now));
  const restored = countSurplus(splitTexts(fix.now), splitTexts(fix.old));
  return [...lost.keys()].filter((piece) => restored.has(piece));
}

/** Splits lines at quotes, tags and braces into texts, attributes and element names. */
function splitTexts(lines: readonly string[]): string[] {
  return lines
    .flatMap((line) => line.split(/["'`<>{}]/))
    .map((piece) => piece.trim())
    .filter((piece) => /[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(piece));
}

function splitLines(text: string | null): string[] {
  return normalizeLines(text?.split('\n') ?? []);
}

/** Normalizes lines for comparison: ignores spaces and the kind of quotes, and drops lines of brackets alone. */
function normalizeLines(lines: readonly string[]): string[] {
  return lines
    .map((line) => line.replaceAll(/["'`]/g, '"').replaceAll(/\s+|[;,]+\s*$/g, ''))
    .filter((key) => /[\p{L}\p{N}]/u.test(key));
}

/** Returns the items that the first list has more often than the second, with how many more. */
function countSurplus(first: readonly string[], second: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of first) counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const key of second) counts.set(key, (counts.get(key) ?? 0) - 1);
  return new Map([...counts].filter(([, times]) => times > 0));
}
