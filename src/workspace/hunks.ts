import { diffArrays } from 'diff';
import type { Hunk } from '../model/blame.js';

/**
 * A hunk that can be reverted. Its file is relative to the workspace root; texts are Latin-1, one character per byte, and lines keep their line
 * endings.
 */
export interface ExactHunk extends Hunk {
  /** Its first line in the old and in the new state, counted from 1. */
  readonly oldStart: number;
  readonly newStart: number;
  /** True if the file was added, deleted, replaced or is binary, so it can only be reverted as a whole. */
  readonly whole: boolean;
}

/** A changed file; a state is null if the file does not exist in it. */
export interface ChangedFile {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly hunks: readonly ExactHunk[];
}

/** A file with more changed lines counts as replaced, because finding the shortest diff takes quadratic time. */
const MAX_DIFFERENCES = 2000;

export function compareFile(file: string, before: string | null, after: string | null): ChangedFile {
  const wholeFile = {
    file,
    oldStart: 1,
    newStart: 1,
    old: splitLines(before),
    now: splitLines(after),
    whole: true,
  };
  if (before === null || after === null || isBinary(before) || isBinary(after))
    return { path: file, before, after, hunks: [wholeFile] };
  const changes = diffArrays(splitLines(before), splitLines(after), { maxEditLength: MAX_DIFFERENCES });
  return { path: file, before, after, hunks: changes ? groupHunks(file, changes) : [wholeFile] };
}

/** Returns the file's text with some of its hunks reverted; null if the file then does not exist. */
export function revertHunks(
  { before, after, hunks }: ChangedFile,
  reverted: ReadonlySet<ExactHunk>,
): string | null {
  const count = hunks.filter((hunk) => reverted.has(hunk)).length;
  if (count === 0) return after;
  if (count === hunks.length || before === null || after === null) return before;
  const lines = splitLines(before);
  let line = 0;
  const parts: string[] = [];
  for (const hunk of hunks) {
    parts.push(...lines.slice(line, hunk.oldStart - 1), ...(reverted.has(hunk) ? hunk.old : hunk.now));
    line = hunk.oldStart - 1 + hunk.old.length;
  }
  return [...parts, ...lines.slice(line)].join('');
}

/** Splits a text into lines that keep their line endings. */
function splitLines(text: string | null): string[] {
  return text === null || text === '' ? [] : text.split(/(?<=\n)/);
}

function isBinary(text: string): boolean {
  return text.slice(0, 8000).includes('\0');
}

/** Groups changed lines into hunks. A single unchanged line without a word, such as a brace or a blank one, does not separate them. */
function groupHunks(file: string, changes: ReturnType<typeof diffArrays<string>>): ExactHunk[] {
  const hunks: { oldStart: number; newStart: number; old: string[]; now: string[] }[] = [];
  let [oldLine, newLine] = [1, 1];
  let unchanged: string[] | null = null;
  for (const { value, added, removed } of changes) {
    if (!added && !removed) unchanged = value;
    else {
      let current = hunks.at(-1);
      if (current && unchanged !== null && unchanged.length <= 1 && !/\w/.test(unchanged.join(''))) {
        current.old.push(...unchanged);
        current.now.push(...unchanged);
      } else if (!current || unchanged !== null) {
        current = { oldStart: oldLine, newStart: newLine, old: [], now: [] };
        hunks.push(current);
      }
      if (added) current.now.push(...value);
      else current.old.push(...value);
      unchanged = null;
    }
    if (!added) oldLine += value.length;
    if (!removed) newLine += value.length;
  }
  return hunks.map((hunk) => ({ file, ...hunk, whole: false }));
}
