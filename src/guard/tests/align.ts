import { stretchesOf } from '../../code/compare-trees.js';
import { identity, isAsStrong, weaknesses } from './strength.js';
import type { Step } from './step.js';

/** Two tests laid beside each other. */
export interface Alignment {
  /** Old steps that no new one is as strong as, in order, each with the one that took its place. */
  readonly lost: readonly { readonly before: Step; readonly after: Step | null }[];
  /** Old steps with the new ones that hold them. */
  readonly kept: readonly (readonly [before: Step, after: Step])[];
  /** New steps that take no old one's place. */
  readonly added: readonly Step[];
}

/** Lays the steps of a test before and after beside each other, in their order: those that stayed, and between them those that hold others. */
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

/** What is waited for may be asked for sooner or later, as long as it is. */
const waitsFirst = (steps: readonly Step[]) =>
  steps.toSorted((a, b) => Number(b.kind === 'wait') - Number(a.kind === 'wait'));

/** The new step of the same stretch that is most like a lost one: it says what was done to it. */
function mostAlike(old: Step, free: ReadonlySet<Step>): Step | undefined {
  const near = [...free].filter((one) => (one.kind === 'assertion') === (old.kind === 'assertion'));
  const ranked = near.slice(0, 50).map((one) => [weaknesses(old, one).length, one] as const);
  return ranked.toSorted(([a], [b]) => a - b)[0]?.[1];
}
