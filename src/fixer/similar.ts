import { numbersOf } from '../code/locator.js';

/** The minimum similarity of two names that are taken for the same. */
const ENOUGH = 0.6;
/** The minimum lead over the next candidate. */
const MARGIN = 0.2;

/** Returns the similarity of two names from 0 to 1: the share of words they have in common, however they are written (`payButton`, `pay-button`). */
function similarity(a: string, b: string): number {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (left.join('') === right.join('')) return 1;
  const shared = left.filter((word) => right.includes(word)).length;
  return shared / new Set([...left, ...right]).size;
}

function wordsOf(name: string): string[] {
  const parts = name.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').toLowerCase();
  return parts.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/**
 * Returns the one value that is similar to a name, with the same numbers and a clear margin over the next; null if there is none. This is
 * Similo's ranking, applied to the single property that a locator uses.
 */
export function nearest(name: string, values: readonly string[]): string | null {
  const ranked = [...new Set(values)]
    .filter((value) => numbersOf(value) === numbersOf(name))
    .map((value) => ({ value, score: similarity(name, value) }))
    .toSorted((a, b) => b.score - a.score);
  const [best, next] = ranked;
  if (!best || best.score < ENOUGH || (next && best.score - next.score < MARGIN)) return null;
  return best.value;
}
