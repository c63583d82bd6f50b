import { type View, ViewBuilder, viewOf } from './view.js';

/** A range of a text and what replaces it: `[masked: github token]`. */
export interface Mask {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  readonly shown: string;
}

/** Knows which parts of a text are masked; a `Redactor` is one. */
export interface Masking {
  /** Returns all masks in order, including those already in the text. */
  masksIn(text: string): readonly Mask[];
}

/** Stands for a mask while the search continues: a noncharacter, which no name or value contains (Unicode 23.7). */
const atom = '\ufdd0';
const written = /\[masked: [^\]\n]{1,80}\]|\ufdd0/g;

/** Whether a text is empty or consists only of masks. Only meaningful in a view made by `withMasks`. */
export function isMasked(text: string): boolean {
  return text.replaceAll(atom, '').trim() === '';
}

/** Finds the masks that are already in a text, from this run or an earlier one. A stray placeholder character is removed. */
export function masksWritten(text: string): Mask[] {
  return [...text.matchAll(written)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
    shown: found === atom ? '' : found,
  }));
}

/** Returns the text with each mask as one character, so that no pattern matches part of a mask and masking twice changes nothing. */
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

/**
 * Returns the range `[from, to)` of a text with its masks applied. A mask that begins before `from` is left out, since the
 * previous range showed it.
 */
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
