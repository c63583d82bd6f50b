/**
 * Returns the most likely candidate for a mistyped word, or null if none is close. A third of its letters may differ, or be missing at the end
 * (`runtime` for `runtime-error`). Case, `-` and `_` are ignored, so `slash_command` matches `slashCommand`.
 */
export function closest(word: string, candidates: Iterable<string>): string | null {
  const typed = simplified(word);
  const near = Array.from(candidates, (candidate) => {
    const word = simplified(candidate);
    const limit = Math.max(1, Math.floor(word.length / 3));
    const isPrefix = typed.length > 1 && word.startsWith(typed);
    // A key of a million letters is not compared.
    if (!isPrefix && (typed.length < 2 || Math.abs(typed.length - word.length) > limit)) return [];
    const distance = Math.min(editDistance(typed, word), isPrefix ? limit : Infinity);
    return distance <= limit ? [{ candidate, distance }] : [];
  }).flat();
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.candidate ?? null;
}

function simplified(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** The optimal string alignment distance: each inserted, missing or different letter counts one, and so do two swapped letters. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i += 1) {
    const row = (rows[i] = [i]);
    for (let j = 1; j <= b.length; j += 1) {
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        at(i - 1, j - 1) + Number(a[i - 1] !== b[j - 1]),
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
        isSwapped ? at(i - 2, j - 2) + 1 : Infinity,
      );
    }
  }
  return at(a.length, b.length);
}
