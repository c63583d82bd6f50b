import { type View, ViewBuilder, viewOf } from './view.js';

/**
 * What programs put between the characters of a value: quotes and backslashes of a shell, colours, the end of a line and
 * the margin of the next one, the joint of two strings, and what cannot be seen.
 */
const noise =
  // oxlint-disable-next-line no-control-regex -- ESC begins what colours a terminal
  /["'`]\s{0,4}\+\s{0,40}["'`]|[\r\n][\s>|]{0,80}|\u001b\[[\d;]{0,32}[A-Za-z]|[\\"'`\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** A text without its noise, in which `+` is a blank as in forms; equal values are equal in it however they were wrapped. */
export function bareView(text: string): View {
  const builder = new ViewBuilder(text);
  let copied = 0;
  for (const { 0: found, index } of text.matchAll(noise)) {
    builder.copy(copied, /^[\r\n]/.test(found) ? withoutBlanks(text, copied, index) : index);
    copied = index + found.length;
  }
  builder.copy(copied, text.length);
  const view = builder.build(viewOf(text));
  return { ...view, text: view.text.replaceAll('+', ' ') };
}

/** Where the text before the place ends, but for blanks. */
function withoutBlanks(text: string, from: number, at: number): number {
  let end = at;
  while (end > from && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  return end;
}
