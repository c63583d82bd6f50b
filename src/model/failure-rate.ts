import { z } from 'zod';
import { count } from './shape.js';

/** How often a test was red in a number of runs. */
export const countShape = z.object({ red: count, runs: count });
export type Count = z.infer<typeof countShape>;

/** The range of failure rates that are compatible with a count. */
export interface Bounds {
  readonly low: number;
  readonly high: number;
}

/** The accepted probability of three errors: bounds exclude the true rate, a difference is due to chance, a test that is still flaky passes its proof. */
const toleratedError = { bounds: 0.05, difference: 0.001, proof: 0.01 } as const;

/**
 * Computes the exact bounds of a rate (Clopper and Pearson, Biometrika 26, 1934): for a rate outside of them, the chance of such a count is at most half
 * of `error` on either side.
 */
export function computeBounds({ red, runs }: Count, error: number = toleratedError.bounds): Bounds {
  return {
    low:
      red === 0 ? 0 : findLowestRate((rate) => 1 - computeChanceOfAtMost(red - 1, runs, rate) >= error / 2),
    high: red === runs ? 1 : findLowestRate((rate) => computeChanceOfAtMost(red, runs, rate) <= error / 2),
  };
}

/** Finds the lowest rate at which a condition starts to hold. */
function findLowestRate(holds: (rate: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Computes the chance of at most `red` failures in `runs` runs. */
function computeChanceOfAtMost(red: number, runs: number, rate: number): number {
  if (rate >= 1) return red >= runs ? 1 : 0;
  let log = runs * Math.log1p(-rate);
  let sum = 0;
  for (let count = 0; count <= red; count += 1) {
    sum += Math.exp(log);
    log += Math.log((runs - count) / (count + 1)) + Math.log(rate) - Math.log1p(-rate);
  }
  return Math.min(1, sum);
}

/**
 * Computes the bounds at the n-th look at a growing count (from 1). Each look may end the runs, so all looks together share the error of a single one:
 * the n-th gets 1 / n(n+1) of it.
 */
function computeBoundsAtLook(count: Count, look: number): Bounds {
  return computeBounds(count, toleratedError.bounds / (look * (look + 1)));
}

/** What a count proves about a test; `open` if more runs are needed. */
export type RateVerdict = 'flaky' | 'always-red' | 'green' | 'open';

/** A test with at least this failure rate is broken, not flaky. */
const brokenRate = 0.7;

/**
 * Decides whether a test has been run often enough (a sequential test). It is flaky once it was both red and green, and the lowest compatible rate, on
 * which the proof depends, is at least a third of the observed one. It is green once its rate is surely below `expected`, its lowest rate under other
 * conditions.
 */
export function judgeCount(
  count: Count,
  { look, expected }: { look: number; expected: number },
): RateVerdict {
  const { red, runs } = count;
  if (runs === 0) return 'open';
  const { low, high } = computeBoundsAtLook(count, look);
  if (red === runs) return low >= brokenRate ? 'always-red' : 'open';
  if (red === 0) return high < expected ? 'green' : 'open';
  return low >= red / runs / 3 ? 'flaky' : 'open';
}

/**
 * True if a test is surely red more often in the first of two counts: if the rates were the same, the chance of so many red runs in the first one would
 * be at most 0.1 % (Fisher's exact test, one-sided).
 */
export function isSurelyHigher(count: Count, other: Count): boolean {
  const [all, red] = [count.runs + other.runs, count.red + other.red];
  let sum = 0;
  for (let n = count.red; n <= Math.min(red, count.runs); n += 1)
    sum += Math.exp(logChoose(count.runs, n) + logChoose(other.runs, red - n) - logChoose(all, red));
  return count.red > 0 && sum <= toleratedError.difference;
}

function logChoose(all: number, some: number): number {
  let log = some > all ? -Infinity : 0;
  for (let n = 1; n <= some; n += 1) log += Math.log((all - some + n) / n);
  return log;
}

/** Computes the lowest failure rate that is compatible with a count, at a one-sided confidence of 95 %. Proofs assume this rate. */
export function computeLowestRate(count: Count): number {
  return computeBounds(count, 2 * toleratedError.bounds).low;
}

/**
 * Counts the green runs that prove that a test is no longer flaky: a test with the lowest compatible rate would pass them with a chance of at most 1 %.
 * Infinity if it was never red.
 */
export function countNeededGreenRuns(count: Count): number {
  const rate = computeLowestRate(count);
  if (rate <= 0) return Infinity;
  return rate >= 1 ? 1 : Math.ceil(Math.log(toleratedError.proof) / Math.log1p(-rate));
}

/** Counts the red runs that prove that a flaky test is broken now: at its rate, but at most one half, their chance is at most 1 %. */
export function countNeededRedRuns({ red, runs }: Count): number {
  return red > 0 ? Math.ceil(Math.log(toleratedError.proof) / Math.log(Math.min(1 / 2, red / runs))) : 1;
}

/** `red 4 of 30` */
export function formatCount({ red, runs }: Count): string {
  return `red ${red} of ${runs}`;
}

/** `13 %`, or `4.7 %` below ten. */
export function formatPercent(rate: number): string {
  const value = rate * 100;
  return `${value > 0 && value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} %`;
}

/** `red 4 of 30 | green 96 of 96 (still flaky at 13 %: < 1 %)`: the last number is the chance of these greens at that rate. */
export function formatRateProof(before: Count, after: Count): string {
  const rate = before.red / before.runs;
  const chance = (1 - rate) ** after.runs;
  const chanceText = chance < toleratedError.proof ? '< 1 %' : formatPercent(chance);
  const greens = after.runs - after.red;
  return `${formatCount(before)} | green ${greens} of ${after.runs} (still flaky at ${formatPercent(rate)}: ${chanceText})`;
}
