import { z } from 'zod';
import { testShape } from './failure.js';
import {
  computeBounds,
  countShape,
  formatCount,
  countNeededGreenRuns,
  formatPercent,
} from './failure-rate.js';
import { listOf, textList } from './shape.js';

/**
 * The kinds of flakes that experiments distinguish: red after other tests (`order`), in parallel with any tests (`load`), in parallel with a test that
 * shares data with it (`data`), at another time or place (`time`), or alone (`random`).
 */
export const flakeKinds = ['order', 'load', 'data', 'time', 'random'] as const;

export type FlakeKind = (typeof flakeKinds)[number];

/** A test that is red and green on the same code, and the results of its experiments. */
export const flakeShape = z.object({
  test: testShape,
  kind: z.enum(flakeKinds),
  /** How often it was red under the triggering condition. */
  red: countShape,
  /** How often it was red when it ran alone. */
  alone: countShape,
  /** The tests after which, or in parallel with which, it is red; for `load`, any other tests have the same effect. */
  others: listOf(testShape),
  /** The triggering condition in words: `after tests/a.spec.ts › leaves a mark`. */
  condition: z.string(),
  /** The differences between a red and a green run, one sentence each. */
  difference: textList,
});
export type Flake = z.infer<typeof flakeShape>;

/** Describes a flake: `order: red 10 of 10 after … (95 %: 69 % to 100 %); alone red 0 of 20`. */
export function describeFlake({ kind, red, alone, condition }: Flake): string {
  const { low, high } = computeBounds(red);
  const aloneText = condition === 'alone' ? '' : `; alone ${formatCount(alone)}`;
  return `${kind}: ${formatCount(red)} ${condition} (95 %: ${formatPercent(low)} to ${formatPercent(high)})${aloneText}`;
}

/** Explains why no fix for a flake can be proven within so many runs; null if one can. */
export function explainTooRare({ red }: Pick<Flake, 'red'>, maxRuns: number): string | null {
  const needed = countNeededGreenRuns(red);
  if (needed <= maxRuns) return null;
  return needed === Infinity
    ? 'too rare to prove a fix with any number of green runs'
    : `too rare to prove a fix: ${needed} green runs would be needed, more than flaky.runs (${maxRuns})`;
}
