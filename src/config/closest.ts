import { distance } from 'fastest-levenshtein';

/**
 * Returns the most likely candidate for a mistyped word, or null if none is close. Up to a third of the candidate's letters may differ, or any number
 * may be missing at its end (`runtime` for `runtime-error`). Ignores case, `-` and `_`, so `slash_command` matches `slashCommand`.
 */
export function findClosest(word: string, candidates: Iterable<string>): string | null {
  const typed = simplify(word);
  const nearCandidates = Array.from(candidates, (candidate) => {
    const word = simplify(candidate);
    const limit = Math.ceil(word.length / 3);
    const isPrefix = typed.length > 1 && word.startsWith(typed);
    // Comparing a key of a million letters would take too long.
    if (!isPrefix && (typed.length < 2 || Math.abs(typed.length - word.length) > limit)) return [];
    const edits = Math.min(distance(typed, word), isPrefix ? limit : Infinity);
    return edits <= limit ? [{ candidate, edits }] : [];
  }).flat();
  return nearCandidates.toSorted((a, b) => a.edits - b.edits)[0]?.candidate ?? null;
}

function simplify(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, '');
}
