import type { ConsoleEntry, NetworkEntry } from '../core/evidence.js';
import { bounds } from './bounds.js';
import { clipMiddle, clipStart } from './clip.js';
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
