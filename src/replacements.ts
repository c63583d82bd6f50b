/** A range of a text, and the text that replaces it. */
export interface Replacement {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly text: string;
}

/** Applies replacements that do not overlap, in any order. */
export function applyReplacements(text: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, text: replacement } of replacements.toSorted((a, b) => a.start - b.start)) {
    parts.push(text.slice(from, start), replacement);
    from = end;
  }
  return parts.join('') + text.slice(from);
}
