import { diffArrays } from 'diff';
import type { Hunk } from '../core/blame.js';

/**
 * A hunk that can be taken out. Its file is relative to the recorded root; texts are Latin-1, one character per byte, and lines
 * keep their line ends.
 */
export interface ExactHunk extends Hunk {
  /** Where it begins in the old and in the new state, counted from 1. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Whether the file was added, deleted, replaced or is binary, so that it can only be taken out whole. */
  readonly whole: boolean;
}

/** A changed file; a state is null if the file does not exist in it. */
export interface ChangedFile {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly hunks: readonly ExactHunk[];
  /** For a renamed file, which is compared with the text under its old name: the hunk that, if taken out, removes the file. */
  readonly renamed?: Renamed & { readonly hunk: ExactHunk };
}

/** The old name of a file, and the step that renamed it. */
interface Renamed {
  readonly from: string;
  readonly step: number;
}

/** A file with more changed lines counts as replaced, since finding the shortest diff takes quadratic time. */
const MAX_DIFFERENCES = 2000;

/** Changes of one commit with at most this many unchanged lines between them are joined: a brace or a blank line does not separate them. */
const LINES_BETWEEN = 1;

/** Returns the hunks between two states of a file. */
export function compareFile(file: string, before: string | null, after: string | null): ChangedFile {
  const whole = { file, oldStart: 1, newStart: 1, old: linesOf(before), now: linesOf(after), whole: true };
  if (before === null || after === null || isBinary(before) || isBinary(after))
    return { path: file, before, after, hunks: [whole] };
  const changes = diffArrays(linesOf(before), linesOf(after), { maxEditLength: MAX_DIFFERENCES });
  return { path: file, before, after, hunks: changes ? hunksOf(file, changes) : [whole] };
}

/** Returns the hunks of a renamed file. The deletion of the old file is a hunk of that file. */
export function compareRenamed(
  file: string,
  { before, after, ...renamed }: Renamed & { readonly before: string; readonly after: string },
): ChangedFile {
  const compared =
    before === after ? { path: file, before, after, hunks: [] } : compareFile(file, before, after);
  // Stands for the rename itself, which adds no text.
  const hunk = { file, oldStart: 1, newStart: 1, old: [], now: [], whole: true };
  return { ...compared, hunks: [...compared.hunks, hunk], renamed: { ...renamed, hunk } };
}

/** Returns the file's text with some of its hunks taken out; null if the file does not exist then. */
export function without(file: ChangedFile, out: ReadonlySet<ExactHunk>): string | null {
  const { before, after, renamed } = file;
  if (renamed && out.has(renamed.hunk)) return null;
  const hunks = file.hunks.filter((one) => one !== renamed?.hunk);
  const gone = hunks.filter((one) => out.has(one));
  if (gone.length === 0) return after;
  if (gone.length === hunks.length || before === null || after === null) return before;
  const lines = linesOf(before);
  let at = 0;
  const parts: string[] = [];
  for (const hunk of hunks) {
    parts.push(...lines.slice(at, hunk.oldStart - 1), ...(out.has(hunk) ? hunk.old : hunk.now));
    at = hunk.oldStart - 1 + hunk.old.length;
  }
  return [...parts, ...lines.slice(at)].join('');
}

/** Splits a text into lines that keep their line ends. */
export function linesOf(text: string | null): string[] {
  return text === null || text === '' ? [] : text.split(/(?<=\n)/);
}

function isBinary(text: string): boolean {
  return text.slice(0, 8000).includes('\0');
}

/** Groups adjacent changed lines into hunks. */
function hunksOf(file: string, changes: ReturnType<typeof diffArrays<string>>): ExactHunk[] {
  const hunks: { oldStart: number; newStart: number; old: string[]; now: string[] }[] = [];
  let [oldLine, newLine] = [1, 1];
  let open: (typeof hunks)[number] | null = null;
  for (const { value, added, removed } of changes) {
    if (!added && !removed) open = null;
    else if (!open) {
      open = { oldStart: oldLine, newStart: newLine, old: [], now: [] };
      hunks.push(open);
    }
    if (!added) oldLine += value.length;
    if (!removed) newLine += value.length;
    if (added) open?.now.push(...value);
    if (removed) open?.old.push(...value);
  }
  return hunks.map((one) => ({ file, ...one, whole: false }));
}

/** Joins adjacent hunks of the same step, and returns each with its step. The hunks are in the order of the file. */
export function joinNear(
  { before, hunks }: ChangedFile,
  steps: ReadonlyMap<ExactHunk, number>,
): ReadonlyMap<ExactHunk, number> {
  const lines = linesOf(before);
  const joined: [ExactHunk, number][] = [];
  for (const hunk of hunks) {
    const step = steps.get(hunk) ?? 0;
    const [last, lastStep] = joined.at(-1) ?? [];
    const between = last ? lines.slice(last.oldStart - 1 + last.old.length, hunk.oldStart - 1) : [];
    const isApart = lastStep !== step || between.length > LINES_BETWEEN || hunk.whole;
    if (!last || isApart) joined.push([hunk, step]);
    else {
      const [old, now] = [
        [...last.old, ...between, ...hunk.old],
        [...last.now, ...between, ...hunk.now],
      ];
      joined.splice(-1, 1, [{ ...last, old, now }, step]);
    }
  }
  return new Map(joined);
}
