/**
 * Returns the candidate that a mistyped word most likely meant, or null if none is close: a third of its letters may differ, or be missing at
 * the end (`runtime` for `runtime-error`). Case, `-` and `_` are ignored, so `slash_command` finds `slashCommand`.
 */
export function closest(word: string, candidates: Iterable<string>): string | null {
  const typed = simplified(word);
  const near = Array.from(candidates, (candidate) => {
    const meant = simplified(candidate);
    const forgiven = Math.max(1, Math.floor(meant.length / 3));
    const isPrefix = typed.length > 1 && meant.startsWith(typed);
    // This also avoids comparing a key of a million letters.
    if (!isPrefix && (typed.length < 2 || Math.abs(typed.length - meant.length) > forgiven)) return [];
    const distance = Math.min(editDistance(typed, meant), isPrefix ? forgiven : Infinity);
    return distance <= forgiven ? [{ candidate, distance }] : [];
  }).flat();
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.candidate ?? null;
}

function simplified(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** The Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of [...a].entries()) {
    const above = row;
    row = [i + 1];
    for (const [j, other] of [...b].entries())
      row.push(
        Math.min((above[j] ?? 0) + Number(letter !== other), (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1),
      );
  }
  return row.at(-1) ?? 0;
}
