import type { Place } from './notations.js';

const longestValue = 16_384;
/** The longest unquoted value. Without the bound, each name on a line without blanks would take the rest of the line. */
export const longestWord = 4096;
const longestList = 1000;

/** A range that may hold a secret; `end` is exclusive. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
  /** One of several values in a list. */
  readonly listed?: boolean;
}

/** Returns the candidates for the value at a place. `lists` holds how far lists have been read, so that nested lists are read once. */
export function stretchesAt(text: string, { at, until }: Place, lists: { end: number }): Stretch[] {
  const first = text[at] ?? '';
  if (until === undefined && /[[{(]/.test(first)) {
    if (at < lists.end) return [];
    const listed = listAt(text, at);
    lists.end = listed.at(-1)?.end ?? at;
    return listed;
  }
  const [quote] = /^(?:[brf@]?["'`])/.exec(text.slice(at, at + 2)) ?? [''];
  if (quote !== '') return [quotedAt(text, at + quote.length - 1)];
  const pattern = until ?? /[\s"'`<>,;|)\]}&\\]/;
  const length = text.slice(at, at + longestWord).search(pattern);
  return [
    {
      start: at,
      end: length === -1 ? Math.min(text.length, at + longestWord) : at + length,
      quoted: until !== undefined,
    },
  ];
}

/** Returns what is inside the quotes. If they are not closed, the text was cut. */
export function quotedAt(text: string, at: number): Stretch {
  const quote = text[at] ?? '';
  const ends = quote === '`' ? quote : `${quote}\n`;
  let end = at + 1;
  while (end < text.length && end - at < longestValue && !ends.includes(text[end] ?? '')) {
    end += text[end] === '\\' ? 2 : 1;
  }
  return { start: at + 1, end: Math.min(end, text.length), quoted: true };
}

/** Returns what is in a list or an object: its strings, or its words, as Go prints them. */
function listAt(text: string, at: number): Stretch[] {
  const closing = text.slice(at, at + longestList).search(/[\]})]/);
  const end = closing === -1 ? Math.min(text.length, at + longestList) : at + closing;
  const inside = text.slice(at, end);
  return [...inside.matchAll(/["'`]([^"'`\n]+)["'`]|[^\s"'`,;:()[\]{}]+/g)].map((match) => {
    const isQuoted = match[1] !== undefined;
    const start = at + match.index + (isQuoted ? 1 : 0);
    return { start, end: start + (match[1] ?? match[0]).length, quoted: isQuoted, listed: true };
  });
}

/** Returns the strings of a list, or all of it if it has none. */
export function stringsInList(text: string, at: number): Pick<Stretch, 'start' | 'end'>[] {
  const closing = text.slice(at, at + longestList).search(/[\])]/);
  const end = closing === -1 ? Math.min(text.length, at + longestList) : at + closing;
  const strings = [...text.slice(at, end).matchAll(/(["'])([^\n]*?)\1/g)].map((match) => ({
    start: at + match.index + 1,
    end: at + match.index + match[0].length - 1,
  }));
  return strings.length > 0 ? strings : [{ start: at + 1, end }];
}
