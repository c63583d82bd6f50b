import type { View } from './views.js';

/**
 * What programs put between the characters of a value: quotes and backslashes of a shell, colours, the end of a line and
 * the margin of the next one, the joint of two strings, and what cannot be seen.
 */
const noise =
  // oxlint-disable-next-line no-control-regex -- ESC begins what colours a terminal
  /["'`]\s{0,4}\+\s{0,40}["'`]|[\r\n][\s>|]{0,80}|\u001b\[[\d;]{0,32}[A-Za-z]|[\\"'`\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** A text without its noise, in which `+` is a blank as in forms; equal values are equal in it however they were wrapped. */
export function bareView(text: string): View {
  const starts: number[] = [];
  const sources: number[] = [];
  const parts: string[] = [];
  let [length, copied] = [0, 0];
  const copy = (upTo: number): void => {
    if (upTo === copied) return;
    starts.push(length);
    sources.push(copied);
    parts.push(text.slice(copied, upTo));
    length += upTo - copied;
  };
  for (const match of text.matchAll(noise)) {
    copy(/^[\r\n]/.test(match[0]) ? withoutBlanks(text, copied, match.index) : match.index);
    copied = match.index + match[0].length;
  }
  copy(text.length);
  const sourceOf = (at: number): number => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return (sources[low] ?? 0) + at - (starts[low] ?? 0);
  };
  return {
    text: parts.join('').replaceAll('+', ' '),
    source: (start, end) => [sourceOf(start), sourceOf(end - 1) + 1],
  };
}

/** Where the text before the place ends, but for blanks. */
function withoutBlanks(text: string, from: number, at: number): number {
  let end = at;
  while (end > from && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  return end;
}
