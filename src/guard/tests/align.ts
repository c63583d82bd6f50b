import { stretchesOf } from '../../code/compare-trees.js';
import { identity, isAsStrong, weaknesses } from './strength.js';
import type { Step } from './step.js';

/** Two states of a test, aligned step by step. */
export interface Alignment {
  /** Old steps that no new step is as strong as, in order, each with the new step most like it, or null. */
  readonly lost: readonly { readonly before: Step; readonly after: Step | null }[];
  /** Old steps, each with the new step that is at least as strong. */
  readonly kept: readonly (readonly [before: Step, after: Step])[];
  /** New steps that correspond to no old step. */
  readonly added: readonly Step[];
}

/** Aligns the steps of a test before and after, in order: first those that stayed, then, in between, those that are at least as strong. */
export function alignSteps(before: readonly Step[], after: readonly Step[]): Alignment {
  const same = (a: Step, b: Step) => identity(a) === identity(b);
  const stretches = stretchesOf(waitsFirst(before), waitsFirst(after), same).flatMap((one) =>
    one.isKept ? [one] : stretchesOf(one.before, one.after, isAsStrong),
  );
  const found = { lost: [] as Alignment['lost'][number][], kept: [] as [Step, Step][], added: [] as Step[] };
  for (const { before: olds, after: news, isKept } of stretches) {
    const free = new Set(news);
    for (const [index, old] of olds.entries()) {
      const now = isKept ? news[index] : mostAlike(old, free);
      if (isKept && now) found.kept.push([old, now]);
      else found.lost.push({ before: old, after: now ?? null });
      if (now) free.delete(now);
    }
    found.added.push(...free);
  }
  return found;
}

/** Puts waits first: they may start earlier or later, as long as they are there. */
const waitsFirst = (steps: readonly Step[]) =>
  steps.toSorted((a, b) => Number(b.kind === 'wait') - Number(a.kind === 'wait'));

/** Returns the new step of the same stretch that is most like a lost one, and so shows how that one changed. */
function mostAlike(old: Step, free: ReadonlySet<Step>): Step | undefined {
  const near = [...free].filter((one) => (one.kind === 'assertion') === (old.kind === 'assertion'));
  const ranked = near.slice(0, 50).map((one) => [weaknesses(old, one).length, one] as const);
  return ranked.toSorted(([a], [b]) => a - b)[0]?.[1];
}
