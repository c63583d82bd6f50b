import { isAsStrong, weaknesses } from './is-as-strong.js';
import type { Step } from './outline.js';

/** A step of the old test and the one that took its place, or null where none did. */
export interface LostStep {
  readonly before: Step;
  readonly after: Step | null;
}

/** Two tests laid beside each other. */
export interface Alignment {
  /** Old steps that no new one is as strong as, in order. */
  readonly lost: readonly LostStep[];
  /** Old steps with the new ones that hold them. */
  readonly kept: readonly (readonly [before: Step, after: Step])[];
  /** New steps that take no old one's place. */
  readonly added: readonly Step[];
}

/** Lays the steps of a test before and after beside each other, in their order, as many kept as can be. */
export function alignSteps(before: readonly Step[], after: readonly Step[]): Alignment {
  const same = sameBeginning(before, after);
  const rest = alignRest(before.slice(same.length), after.slice(same.length));
  return { ...rest, kept: [...same, ...rest.kept] };
}

/** Most of a changed test is as it was: only what follows has to be searched. */
function sameBeginning(before: readonly Step[], after: readonly Step[]): (readonly [Step, Step])[] {
  const pairs: (readonly [Step, Step])[] = [];
  for (const [index, old] of before.entries()) {
    const now = after[index];
    if (!now || !isAsStrong(old, now)) break;
    pairs.push([old, now]);
  }
  return pairs;
}

function alignRest(before: readonly Step[], after: readonly Step[]): Alignment {
  const longest = table(before, after);
  const kept: (readonly [Step, Step])[] = [];
  const lost: { before: Step; gap: number }[] = [];
  const free: { after: Step; gap: number }[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]];
    const here = longest[i]?.[j] ?? 0;
    if (old && now && isAsStrong(old, now) && here === (longest[i + 1]?.[j + 1] ?? 0) + 1) {
      kept.push([old, now]);
      i += 1;
      j += 1;
    } else if (old && (!now || (longest[i + 1]?.[j] ?? 0) >= (longest[i]?.[j + 1] ?? 0))) {
      lost.push({ before: old, gap: kept.length });
      i += 1;
    } else if (now) {
      free.push({ after: now, gap: kept.length });
      j += 1;
    }
  }
  const paired = lost.map((one) => ({ before: one.before, after: takePlace(one.before, one.gap, free) }));
  return { kept, lost: paired, added: free.map((one) => one.after) };
}

/** Lengths of the longest common run of steps from each pair of positions. */
function table(before: readonly Step[], after: readonly Step[]): number[][] {
  const rows = Array.from({ length: before.length + 1 }, () => Array<number>(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const [old, now] = [before[i], after[j]];
      const both = old && now && isAsStrong(old, now) ? (rows[i + 1]?.[j + 1] ?? 0) + 1 : 0;
      const row = rows[i];
      if (row) row[j] = Math.max(both, rows[i + 1]?.[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return rows;
}

/** The new step in the same gap that is most like a lost one: it says what was done to it. */
function takePlace(old: Step, gap: number, free: { after: Step; gap: number }[]): Step | null {
  const near = free.filter((one) => one.gap === gap && one.after.kind === old.kind);
  const [best] = near.sort((a, b) => weaknesses(old, a.after).length - weaknesses(old, b.after).length);
  if (!best) return null;
  free.splice(free.indexOf(best), 1);
  return best.after;
}
