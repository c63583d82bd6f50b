import { distance } from 'fastest-levenshtein';

/**
 * Returns the most likely candidate for a mistyped word, or null if none is close. A third of its letters may differ, or be missing at the end
 * (`runtime` for `runtime-error`). Case, `-` and `_` are ignored, so `slash_command` matches `slashCommand`.
 */
export function findClosest(word: string, candidates: Iterable<string>): string | null {
  const typed = simplify(word);
  const near = Array.from(candidates, (candidate) => {
    const word = simplify(candidate);
    const limit = Math.ceil(word.length / 3);
    const isPrefix = typed.length > 1 && word.startsWith(typed);
    // Skips a key of a million letters, too.
    if (!isPrefix && (typed.length < 2 || Math.abs(typed.length - word.length) > limit)) return [];
    const edits = Math.min(distance(typed, word), isPrefix ? limit : Infinity);
    return edits <= limit ? [{ candidate, edits }] : [];
  }).flat();
  return near.toSorted((a, b) => a.edits - b.edits)[0]?.candidate ?? null;
}

function simplify(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, '');
}
