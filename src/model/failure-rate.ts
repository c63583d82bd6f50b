import { z } from 'zod';
import { count } from './shape.js';

/** How often a test was red in how many runs. */
export const countShape = z.object({ red: count, runs: count });
export type Count = z.infer<typeof countShape>;

/** The range of failure rates that a count is compatible with. */
export interface Bounds {
  readonly low: number;
  readonly high: number;
}

/**
 * The error rates that are tolerated: that bounds exclude the true rate, that a difference is chance, and that a test which is still flaky passes
 * its proof.
 */
const errorOf = { bounds: 0.05, difference: 0.001, proof: 0.01 } as const;

/**
 * Returns the exact bounds of a rate (Clopper and Pearson, Biometrika 26, 1934): outside of them, a count this high or this low has a chance of at
 * most half of `error` on either side.
 */
export function boundsOf({ red, runs }: Count, error: number = errorOf.bounds): Bounds {
  return {
    low: red === 0 ? 0 : rateWhere((rate) => 1 - atMost(red - 1, runs, rate) >= error / 2),
    high: red === runs ? 1 : rateWhere((rate) => atMost(red, runs, rate) <= error / 2),
  };
}

/** Returns the lowest rate from which on a condition holds. */
function rateWhere(holds: (rate: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The chance of at most `red` failures in `runs` runs. */
function atMost(red: number, runs: number, rate: number): number {
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
 * Returns the bounds at the n-th look at the same growing count, counted from 1. Each look may be the last one, so that all of them
 * together have the error of a single one: the n-th has 1 / n(n+1) of it.
 */
function boundsAtLook(count: Count, look: number): Bounds {
  return boundsOf(count, errorOf.bounds / (look * (look + 1)));
}

/** What a count proves about a test; `open` if it is too early to say. */
export type RateVerdict = 'flaky' | 'always-red' | 'green' | 'open';

/** A test that is red at least at this rate is broken rather than flaky. */
const broken = 0.7;

/**
 * Decides whether a test has been run often enough (a sequential test). It is flaky once it was seen both ways and its rate is known within a
 * factor of three on the low side, on which its proof depends; green once it is not as flaky as `expected`, the lowest rate that it has
 * elsewhere.
 */
export function shownBy(count: Count, { look, expected }: { look: number; expected: number }): RateVerdict {
  const { red, runs } = count;
  if (runs === 0) return 'open';
  const { low, high } = boundsAtLook(count, look);
  if (red === runs) return low >= broken ? 'always-red' : 'open';
  if (red === 0) return high < expected ? 'green' : 'open';
  return low >= red / runs / 3 ? 'flaky' : 'open';
}

/**
 * Whether a test is surely more often red in one of two counts than in the other: were they the same, a share of its red runs this high or higher
 * would fall to the first with a chance of at most 0.1 % (Fisher's exact test, one-sided).
 */
export function isHigher(count: Count, other: Count): boolean {
  const [all, red] = [count.runs + other.runs, count.red + other.red];
  let sum = 0;
  for (let n = count.red; n <= Math.min(red, count.runs); n += 1)
    sum += Math.exp(logChoose(count.runs, n) + logChoose(other.runs, red - n) - logChoose(all, red));
  return count.red > 0 && sum <= errorOf.difference;
}

function logChoose(all: number, some: number): number {
  let log = some > all ? -Infinity : 0;
  for (let n = 1; n <= some; n += 1) log += Math.log((all - some + n) / n);
  return log;
}

/** The lowest failure rate that a count allows, with one-sided confidence of 95 %. Proofs assume that the test fails at this rate. */
export function surelyAtLeast(count: Count): number {
  return boundsOf(count, 2 * errorOf.bounds).low;
}

/**
 * Returns how many green runs prove that a test is no longer flaky: at the lowest rate that its count allows, it would pass them with a chance of
 * at most 1 %. Infinity if it was never red.
 */
export function greensNeeded(count: Count): number {
  const rate = surelyAtLeast(count);
  if (rate <= 0) return Infinity;
  return rate >= 1 ? 1 : Math.ceil(Math.log(errorOf.proof) / Math.log1p(-rate));
}

/** `red 4 of 30` */
export function countText({ red, runs }: Count): string {
  return `red ${red} of ${runs}`;
}

/** `13 %`, or `4.7 %` below ten. */
export function percent(rate: number): string {
  const value = rate * 100;
  return `${value > 0 && value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} %`;
}

/** `red 4 of 30 | green 96 of 96 (still flaky at 13 %: < 1 %)`: the last number is the chance of these greens at that rate. */
export function provenText(before: Count, after: Count): string {
  const rate = before.red / before.runs;
  const chance = (1 - rate) ** after.runs;
  const chanceText = chance < errorOf.proof ? '< 1 %' : percent(chance);
  const greens = after.runs - after.red;
  return `${countText(before)} | green ${greens} of ${after.runs} (still flaky at ${percent(rate)}: ${chanceText})`;
}
