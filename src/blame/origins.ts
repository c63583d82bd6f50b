import { diffArrays } from 'diff';
import { type ChangedFile, type ExactHunk, linesOf } from './hunks.js';

/** The state of a file after a step; null where it was not there. Steps count from 0, the oldest first. */
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

const MAX_DIFFERENCES = 2000;

/** The last step that touched each hunk, by following every line from the old state through all versions to the new one. */
export function lastSteps(file: ChangedFile, versions: readonly Version[]): ReadonlyMap<ExactHunk, number> {
  const gone = new Map<number, number>();
  let lines: Line[] = linesOf(file.before).map((text, base) => ({ text, base, step: null }));
  for (const { step, text } of versions) lines = follow(lines, linesOf(text), { step, gone });
  const last = versions.at(-1)?.step ?? 0;
  return new Map(
    file.hunks.map((hunk) => {
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

function follow(
  lines: readonly Line[],
  next: readonly string[],
  { step, gone }: { step: number; gone: Map<number, number> },
): Line[] {
  const texts = lines.map(({ text }) => text);
  const changes = diffArrays(texts, [...next], { maxEditLength: MAX_DIFFERENCES });
  const made = (value: readonly string[]) => value.map((text) => ({ text, base: null, step }));
  const remove = (some: readonly Line[]) => {
    for (const { base } of some) if (base !== null) gone.set(base, step);
  };
  if (!changes) {
    remove(lines);
    return made(next);
  }
  let at = 0;
  return changes.flatMap(({ value, added, removed }) => {
    if (added) return made(value);
    const these = lines.slice(at, at + value.length);
    at += value.length;
    if (!removed) return these;
    remove(these);
    return [];
  });
}
