/** A word that differs from a candidate in more than this share of its letters is not a slip of the finger. */
const FORGIVEN_SHARE = 1 / 3;

/** A word that is merely the beginning of a candidate (`runtime` for `runtime-error`) must have so many letters. */
const LEAST_PREFIX = 2;

/**
 * The candidate that a mistyped word most likely meant, or null where none is near. Case, `-` and `_` do not count, so
 * `slash_command` finds `slashCommand`.
 */
export function closest(word: string, candidates: Iterable<string>): string | null {
  const typed = simplify(word);
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of candidates) {
    const distance = distanceWithin(typed, simplify(candidate));
    if (distance !== null && (best === null || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

function simplify(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}

/** The edit distance, or null where it is more than is forgiven. */
function distanceWithin(typed: string, meant: string): number | null {
  const forgiven = Math.max(1, Math.floor(meant.length * FORGIVEN_SHARE));
  const isPrefix = typed.length >= LEAST_PREFIX && meant.startsWith(typed);
  if (isPrefix) return Math.min(forgiven, meant.length - typed.length);
  // Also keeps a key of a million letters from being compared letter by letter.
  if (typed.length < LEAST_PREFIX || Math.abs(typed.length - meant.length) > forgiven) return null;
  const distance = editDistance(typed, meant);
  return distance <= forgiven ? distance : null;
}

/** Optimal string alignment: insertions, deletions, substitutions, and swaps of neighbours, each at a cost of one. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(substituted, swapped, at(last, j) + 1, at(row, j - 1) + 1));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
