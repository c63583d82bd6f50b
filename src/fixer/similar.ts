import { numbersOf } from '../code/locator.js';

/** Two names are taken for one only where this much of their words is the same… */
const ENOUGH = 0.6;
/** …and the next likeliest is so much further away. */
const MARGIN = 0.2;

/** How alike two names are, from 0 to 1: the share of their words, whichever way they are written (`payButton`, `pay-button`). */
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

/** The one value that is like a name, with the same numbers, and clear of the next by a margin (Similo's ranking, for the one property that a locator tells); or null. */
export function nearest(name: string, values: readonly string[]): string | null {
  const ranked = [...new Set(values)]
    .filter((value) => numbersOf(value) === numbersOf(name))
    .map((value) => ({ value, score: similarity(name, value) }))
    .toSorted((a, b) => b.score - a.score);
  const [best, next] = ranked;
  if (!best || best.score < ENOUGH || (next && best.score - next.score < MARGIN)) return null;
  return best.value;
}
