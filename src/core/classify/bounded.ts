const longestLine = 600;

/** Shortens a text to `max` characters, two thirds from its beginning and the rest from its end, and each line to 600. */
export function bounded(text: string, max: number): string {
  const head = Math.floor((max * 2) / 3);
  const kept = text.length > max ? `${text.slice(0, head)}\n${text.slice(text.length - (max - head))}` : text;
  if (kept.length <= longestLine) return kept;
  return kept
    .split('\n')
    .map((line) => (line.length > longestLine ? line.slice(0, longestLine) : line))
    .join('\n');
}
