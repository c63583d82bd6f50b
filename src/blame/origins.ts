import { diffArrays } from 'diff';
import { type ChangedFile, type ExactHunk, linesOf } from './hunks.js';

/** The state of a file after a step; null where it was not there. A step comes after its parents, and they count from 0. */
export interface Version {
  readonly step: number;
  readonly text: string | null;
}

/** A line on its way: from the old state, where `base` counts it from 0, or from a step. */
interface Line {
  readonly text: string;
  readonly base: number | null;
  readonly step: number | null;
}

/** A file after a step. */
interface State {
  readonly lines: readonly Line[];
  /** The steps that took out lines of the old state. */
  readonly gone: ReadonlyMap<number, number>;
}

const MAX_DIFFERENCES = 2000;

/**
 * The last step that touched each hunk, by following every line from the old state through all versions to the new one; a merge is to blame for
 * nothing that one of its parents has, as in `git blame`. `parents` has those of each step, the first one first; what is no step (-1)
 * is the old state. A step without a version leaves the file as its first parent has it.
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

/** A line is the first parent's that has it, else the step's own; so is a line that no parent had lost. */
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

/** For each of the next lines the one that it was; null for a new one. */
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
