import { diffArrays } from 'diff';
import { type ChangedFile, type ExactHunk, linesOf } from './hunks.js';

/** A file after a step; null if it did not exist. Steps count from 0 and come after their parents. */
export interface Version {
  readonly step: number;
  readonly text: string | null;
}

/** A line as it is followed: from the old state, where `base` is its index, or from the step that added it. */
interface Line {
  readonly text: string;
  readonly base: number | null;
  readonly step: number | null;
}

/** A file after a step. */
interface State {
  readonly lines: readonly Line[];
  /** Which step removed each line of the old state, by index. */
  readonly gone: ReadonlyMap<number, number>;
}

const MAX_DIFFERENCES = 2000;

/**
 * Returns the last step that touched each hunk, by following every line from the old state through all versions to the new one. As in `git
 * blame`, a merge is not to blame for what one of its parents has. `parents` has the parents of each step, the first one first; any that is
 * not a step (-1) stands for the old state. A step without a version leaves the file as in its first parent.
 */
export function lastSteps(
  file: ChangedFile,
  versions: readonly Version[],
  parents: readonly (readonly number[])[],
): ReadonlyMap<ExactHunk, number> {
  const old: State = {
    lines: linesOf(file.before).map((text, base) => ({ text, base, step: null })),
    gone: new Map(),
  };
  const texts = new Map(versions.map(({ step, text }) => [step, text]));
  const states: State[] = [];
  for (const [step, above] of parents.entries()) {
    const [first = old, ...others] = above.map((one) => states[one] ?? old);
    const text = texts.get(step);
    states.push(text === undefined ? first : stateAfter(step, linesOf(text), [first, ...others]));
  }
  const { lines, gone } = states.at(-1) ?? old;
  const last = versions.at(-1)?.step ?? 0;
  return new Map(
    file.hunks.map((hunk) => {
      if (hunk === file.renamed?.hunk) return [hunk, file.renamed.step];
      const added = lines.slice(hunk.newStart - 1, hunk.newStart - 1 + hunk.now.length);
      const steps = [
        ...added.map((line) => line.step ?? -1),
        ...hunk.old.map((_, at) => gone.get(hunk.oldStart - 1 + at) ?? -1),
      ];
      const newest = Math.max(-1, ...steps);
      return [hunk, newest === -1 ? last : newest];
    }),
  );
}

/**
 * Each line comes from the first parent that has it, or else from this step. A removed line was removed by the step known to the first parent
 * that had lost it, or else by this step.
 */
function stateAfter(step: number, texts: readonly string[], parents: readonly State[]): State {
  const followed = parents.map(({ lines }) => follow(lines, texts));
  const lines = texts.map(
    (text, at) => followed.map((one) => one[at]).find((one) => one) ?? { text, base: null, step },
  );
  const kept = new Set(lines.map(({ base }) => base));
  const lostHere = parents.flatMap((one) => one.lines.map(({ base }) => [base, step] as const));
  const lostBefore = parents.toReversed().flatMap((one) => [...one.gone]);
  const gone = [...lostHere, ...lostBefore].filter(
    (one): one is [number, number] => one[0] !== null && !kept.has(one[0]),
  );
  return { lines, gone: new Map(gone) };
}

/** Returns the previous line for each of the next lines; null for new ones. */
function follow(lines: readonly Line[], next: readonly string[]): (Line | null)[] {
  const changes = diffArrays(
    lines.map(({ text }) => text),
    [...next],
    { maxEditLength: MAX_DIFFERENCES },
  );
  let at = 0;
  const known = changes?.flatMap(({ value, added, removed }) => {
    if (added) return value.map(() => null);
    const these = lines.slice(at, at + value.length);
    at += value.length;
    return removed ? [] : these;
  });
  return known ?? next.map(() => null);
}
