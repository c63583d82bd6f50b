import type { ConsoleEntry, NetworkEntry } from '../core/evidence.js';
import { bounds } from './bounds.js';
import type { MissingEvidence } from './missing-evidence.js';

/** The parts of the evidence that are text; each name is a key of `bounds`. */
export type TextPart =
  | 'errorText'
  | 'snippet'
  | 'cause'
  | 'consoleText'
  | 'consoleStack'
  | 'url'
  | 'body'
  | 'headerValue'
  | 'serverOutput'
  | 'ariaSnapshot';

const nameOf: Record<TextPart, string> = {
  errorText: 'an error message or stack',
  snippet: 'a code snippet',
  cause: 'an error cause',
  consoleText: 'a console text',
  consoleStack: 'the stack of a page error',
  url: 'a URL',
  body: 'a request or response body',
  headerValue: 'a header value',
  serverOutput: 'the server output',
  ariaSnapshot: 'the accessibility snapshot',
};

/** Which part of the evidence each text of a record is. */
export type PartsOf<T> = { readonly [Name in keyof T]?: TextPart };

export const consoleParts: PartsOf<ConsoleEntry> = {
  type: 'headerValue',
  text: 'consoleText',
  location: 'url',
  stack: 'consoleStack',
};

/** All texts of a request. */
export const requestParts: PartsOf<NetworkEntry> = {
  method: 'headerValue',
  url: 'url',
  resourceType: 'headerValue',
  failure: 'headerValue',
  requestHeaders: 'headerValue',
  responseHeaders: 'headerValue',
  requestBody: 'body',
  responseBody: 'body',
};

/** Rewrites one text of a record; `name` is that of a header if it is the header's value. */
type Change = (text: string, part: TextPart, name?: string) => string;

/**
 * Returns a copy of a record in which `change` was applied to each text that is one of these parts, and to names and values of
 * headers. One header more than the bound is kept, so that `cleanRequest` sees that there were more.
 */
export function mapParts<T extends object>(record: T, parts: PartsOf<T>, change: Change): T {
  const mapped = { ...record };
  for (const [name, part] of Object.entries(parts) as [keyof T, TextPart][]) {
    const value = record[name];
    if (typeof value === 'string') mapped[name] = change(value, part) as T[keyof T];
    else if (typeof value === 'object' && value !== null) {
      const headers = Object.entries<string>(value as Record<string, string>).slice(
        0,
        bounds.headerCount + 1,
      );
      const changed = headers.map(([header, text]) => [change(header, part), change(text, part, header)]);
      mapped[name] = Object.fromEntries(changed) as T[keyof T];
    }
  }
  return mapped;
}

/** Before cleaning, a text may be this many times its bound. A secret torn by the first cut is then removed by the second. */
const roomToClean = 4;

/**
 * Shortens a text before it is kept, so that a buffer of many stays small; `boundedText` cleans and reports the cut
 * later.
 */
export function roughlyBounded(text: string, part: TextPart): string {
  return clipMiddle(text, bounds[part] * roomToClean).text;
}

/**
 * Cleans a text and cuts it to the bound of its part; reports a cut in `missing`. Keeps the end of server output, and
 * both ends of everything else.
 */
export function boundedText(text: string, part: TextPart, missing: MissingEvidence): string {
  const clip = part === 'serverOutput' ? clipStart : clipMiddle;
  const rough = clip(text, bounds[part] * roomToClean);
  const clipped = clip(missing.clean(rough.text), bounds[part]);
  if (rough.cutBytes + clipped.cutBytes > 0) {
    missing.cut(`${nameOf[part]} was longer than ${bounds[part]} bytes and was cut`);
  }
  return clipped.text;
}

/** A text that may have been shortened; `cutBytes` is 0 if it was not. */
export interface Clipped {
  readonly text: string;
  readonly cutBytes: number;
}

const lineFeed = 0x0a;
/** A line of more bytes than this is cut within it. */
const longLine = 1_000;

/** Shortens a text to at most `maxBytes` of UTF-8 by replacing its middle with a note. */
export function clipMiddle(text: string, maxBytes: number): Clipped {
  return clip(text, maxBytes, (room) => Math.ceil(room / 2));
}

/** Shortens a text to at most `maxBytes` of UTF-8 by replacing its beginning with a note. */
function clipStart(text: string, maxBytes: number): Clipped {
  return clip(text, maxBytes, () => 0);
}

function clip(text: string, maxBytes: number, headOf: (room: number) => number): Clipped {
  if (text.length * 3 <= maxBytes) return { text, cutBytes: 0 };
  // Joins copied bytes instead of using slice(), since a slice keeps the whole original alive.
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return { text, cutBytes: 0 };
  const marker = (cut: number) => `\n… ${cut} bytes cut …\n`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(marker(bytes.length)));
  const head = previousCharacter(bytes, headOf(room));
  const tail = nextLine(bytes, nextCharacter(bytes, bytes.length - (room - headOf(room))));
  const cutBytes = tail - head;
  const whole = bytes.toString('utf8', 0, head) + marker(cutBytes) + bytes.toString('utf8', tail);
  return { text: head === 0 ? whole.trimStart() : whole, cutBytes };
}

function previousCharacter(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && isContinuation(bytes[start])) start -= 1;
  return start;
}

function nextCharacter(bytes: Buffer, at: number): number {
  let start = at;
  while (start < bytes.length && isContinuation(bytes[start])) start += 1;
  return start;
}

/** Returns where the line begins that follows a cut, since half a path would look like another one; the cut itself if lines are long. */
function nextLine(bytes: Buffer, at: number): number {
  if (bytes[at - 1] === lineFeed) return at;
  const feed = bytes.subarray(at, at + longLine).indexOf(lineFeed);
  return feed < 0 || at + feed + 1 === bytes.length ? at : at + feed + 1;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
