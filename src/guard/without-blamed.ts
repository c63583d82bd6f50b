import type { BlamedHunk } from '../core/blame.js';

/** A hunk that broke the test, as runs have shown (BL-1); its file is relative to the recorded root. */
export type BrokeTest = Pick<BlamedHunk, 'file' | 'line' | 'old' | 'now'>;

/** A text without these hunks of it. One that is not found just once, since other lines took its place, stays. */
export function withoutBlamed(text: string, hunks: readonly BrokeTest[]): string {
  const lines = text.split('\n');
  for (const { line, old, now } of hunks.toSorted((a, b) => b.line - a.line)) {
    const at = placeOf(now, { lines, expected: line - 1 });
    if (at !== null) lines.splice(at, now.length, ...old);
  }
  return lines.join('\n');
}

/** Where these lines stand: where they are said to be, or the one place where they are. */
function placeOf(
  hunk: readonly string[],
  { lines, expected }: { lines: readonly string[]; expected: number },
): number | null {
  const isAt = (start: number) =>
    hunk.every((line, index) => lines[start + index]?.replace(/\r$/, '') === line);
  if (isAt(expected)) return expected;
  const starts = [...lines.keys()].filter(isAt);
  return starts.length === 1 ? (starts[0] ?? null) : null;
}
