import { type View, ViewBuilder, viewOf } from './view.js';

/** A stretch of a text, and what is shown in its place: `[masked: github token]`. */
export interface Mask {
  readonly start: number;
  /** Behind it. */
  readonly end: number;
  readonly shown: string;
}

/** Knows what of a text is masked; a `Redactor` does. */
export interface Masking {
  /** What is masked, in order, and what was before. */
  masksIn(text: string): readonly Mask[];
}

/** What a mask reads as while more is looked for: one character that no name and no value is made of (Unicode 23.7). */
const atom = '\ufdd0';
const written = /\[masked: [^\]\n]{1,80}\]|\ufdd0/g;

/** A text that consists of masks alone, or is empty; only meaningful in a view `withMasks`. */
export function isMasked(text: string): boolean {
  return text.replaceAll(atom, '').trim() === '';
}

/** The masks that a text holds already, of now or of an earlier time; the character that stands for them is left out. */
export function masksWritten(text: string): Mask[] {
  return [...text.matchAll(written)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
    shown: found === atom ? '' : found,
  }));
}

/** The text with every mask one indivisible character: no pattern finds a part of a mask, and masking twice is the same as once. */
export function withMasks(text: string, masks: readonly Mask[]): View {
  const builder = new ViewBuilder(text);
  let at = 0;
  for (const { start, end, shown } of masks) {
    builder.copy(at, start);
    if (shown !== '') builder.put(atom, start, end);
    at = end;
  }
  builder.copy(at, text.length);
  return builder.build(viewOf(text));
}

/** The stretch `[from, to)` of a text as it is shown; a mask that reaches into it from before was shown there. */
export function shownBetween(
  text: string,
  masks: readonly Mask[],
  { from, to }: { from: number; to: number },
): string {
  const parts: string[] = [];
  let at = from;
  for (const { start, end, shown } of masks) {
    if (end <= from || start >= to) continue;
    parts.push(text.slice(at, start), start < from ? '' : shown);
    at = end;
  }
  return parts.join('') + text.slice(at, to);
}
