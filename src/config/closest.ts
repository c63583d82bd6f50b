/** The share of letters in which a typo may differ from a candidate. */
const FORGIVEN_SHARE = 1 / 3;

/** The minimum length of a word that matches as the beginning of a candidate (`runtime` for `runtime-error`). */
const LEAST_PREFIX = 2;

/**
 * Returns the candidate that a mistyped word most likely meant, or null if none is close. Case, `-` and `_` are ignored, so
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

/** Returns the edit distance, or null if it is too large for a typo. */
function distanceWithin(typed: string, meant: string): number | null {
  const forgiven = Math.max(1, Math.floor(meant.length * FORGIVEN_SHARE));
  const isPrefix = typed.length >= LEAST_PREFIX && meant.startsWith(typed);
  if (isPrefix) return Math.min(forgiven, meant.length - typed.length);
  // This also avoids comparing a key of a million letters.
  if (typed.length < LEAST_PREFIX || Math.abs(typed.length - meant.length) > forgiven) return null;
  const distance = editDistance(typed, meant);
  return distance <= forgiven ? distance : null;
}

/** Optimal string alignment distance: insertions, deletions, substitutions and swaps of adjacent letters each cost one. */
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
