import { z } from 'zod';
import { testShape } from './failure.js';
import { boundsOf, countShape, countText, greensNeeded, percent } from './failure-rate.js';
import { listOf, texts } from './shape.js';

/**
 * The kinds of flakes that experiments distinguish: red after other tests (`order`), beside any others (`load`), beside one that it shares
 * something with (`data`), at another time or place (`time`), or by itself (`random`).
 */
export const flakeKinds = ['order', 'load', 'data', 'time', 'random'] as const;

/** One of `flakeKinds`. */
export type FlakeKind = (typeof flakeKinds)[number];

/** A test that is red and green on the same code, and the results of its experiments. */
export const flakeShape = z.object({
  test: testShape,
  kind: z.enum(flakeKinds),
  /** How often it was red under the condition that makes it red. */
  red: countShape,
  /** How often it was red by itself. */
  alone: countShape,
  /** The tests that it is red after or beside; for `load`, any others would do. */
  others: listOf(testShape),
  /** What makes it red, in words: `after tests/a.spec.ts › leaves a mark`. */
  condition: z.string(),
  /** How a red and a green run of it differ, one sentence each. */
  difference: texts,
});
export type Flake = z.infer<typeof flakeShape>;

/** Describes a flake: `order: red 10 of 10 after … (95 %: 69 % to 100 %); alone red 0 of 20`. */
export function flakeText({ kind, red, alone, condition }: Flake): string {
  const { low, high } = boundsOf(red);
  const apart = condition === 'alone' ? '' : `; alone ${countText(alone)}`;
  return `${kind}: ${countText(red)} ${condition} (95 %: ${percent(low)} to ${percent(high)})${apart}`;
}

/** Why no fix of a flake could be proven within so many runs; null if one can. */
export function tooRare({ red }: Pick<Flake, 'red'>, mostRuns: number): string | null {
  const needed = greensNeeded(red);
  if (needed <= mostRuns) return null;
  const runs = needed === Infinity ? 'no number of' : `${needed}`;
  return `too rare to prove a fix: ${runs} green runs would be needed, more than flaky.runs (${mostRuns})`;
}
