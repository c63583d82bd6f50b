import type { ConsoleEntry, NetworkEntry } from '../model/evidence.js';
import { isErrorPage, readPageText } from '../diagnose/requests.js';
import { describeError } from '../problem.js';
import { visibleText } from '../visible-text.js';
import { redact } from '../secrets/redactor.js';
import type { TestError } from '../model/failure.js';
import { isSecretHeader } from '../secrets/secret-fields.js';

const KIB = 1024;

/** Maximum size of each part of the evidence (EV-11): bytes of UTF-8, unless the name says otherwise. */
export const bounds = {
  /** One error message, or one stack. */
  errorText: 16 * KIB,
  snippet: 8 * KIB,
  cause: 4 * KIB,
  errorCount: 20,
  causeCount: 10,
  /** Large enough for React's hydration errors, which print a kilobyte of advice before the difference. */
  consoleText: 8 * KIB,
  consoleStack: 4 * KIB,
  url: 2 * KIB,
  body: 16 * KIB,
  headerValue: 1 * KIB,
  headerCount: 64,
  serverOutput: 32 * KIB,
  ariaSnapshot: 32 * KIB,
  screenshot: 10 * 1024 * KIB,
  /** One line of `Evidence.missing` or `Evidence.cut`. */
  note: 400,
  /** Playwright's error-context.md. */
  errorContext: 512 * KIB,
  /** A script searched for its source map, or a source quoted in an excerpt. */
  script: 16 * 1024 * KIB,
  sourceMap: 32 * 1024 * KIB,
  /** The longest line of a trace that is parsed; only the beginning of a longer one is read. */
  traceLine: 8 * 1024 * KIB,
  /** How much inflated text is read from one trace; a million console lines are about 300 MB. */
  traceInflated: 4 * 1024 * 1024 * KIB,
} as const;

/** The names of text parts in notes about shortened evidence; each key is also a key of `bounds`. */
const partNames = {
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
} as const;

export type TextPart = keyof typeof partNames;

/** Maps each text field of a record to the bound that applies to it. */
export type TextParts<T> = { readonly [Name in keyof T]?: TextPart };

export const consoleParts: TextParts<ConsoleEntry> = {
  type: 'headerValue',
  text: 'consoleText',
  location: 'url',
  stack: 'consoleStack',
};

/** All texts of a request. */
export const requestParts: TextParts<NetworkEntry> = {
  method: 'headerValue',
  url: 'url',
  resourceType: 'headerValue',
  failure: 'headerValue',
  requestHeaders: 'headerValue',
  responseHeaders: 'headerValue',
  requestBody: 'body',
  responseBody: 'body',
};

/**
 * Returns a copy of a record with `change` applied to each of these text fields. Changes header names and values separately; with a value, `change`
 * also gets the header's name. Keeps one header too many, so that `cleanRequest` sees that there were more.
 */
export function mapParts<T extends object>(
  record: T,
  parts: TextParts<T>,
  change: (text: string, part: TextPart, header?: string) => string,
): T {
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

/** Texts are first shortened to this many times their bound. If that splits a secret, the final bound removes both parts. */
const ROUGH_FACTOR = 4;

/** Shortens a text when it arrives, to keep buffers small. Later, `cleanAndClip` cleans it and notes that it was shortened. */
export function clipRoughly(text: string, part: TextPart): string {
  return clipMiddle(text, bounds[part] * ROUGH_FACTOR).text;
}

/** Cleans a text and shortens it to the bound of its part, with a note. Keeps the end of server output, and both ends of any other text. */
export function cleanAndClip(text: string, part: TextPart, notes: EvidenceNotes): string {
  const headShare = part === 'serverOutput' ? 0 : 0.5;
  const rough = clip(text, bounds[part] * ROUGH_FACTOR, headShare);
  const clipped = clip(notes.clean(rough.text), bounds[part], headShare);
  if (rough.cutBytes + clipped.cutBytes > 0) {
    notes.noteCut(`${partNames[part]} was longer than ${bounds[part]} bytes and was cut`);
  }
  return clipped.text;
}

/** A text that may have been shortened; `cutBytes` is 0 if it was not. */
export interface ClippedText {
  readonly text: string;
  readonly cutBytes: number;
}

const lineFeed = 0x0a;
/** A longer line is shortened within the line. */
const LONG_LINE_BYTES = 1_000;

/** Shortens a text to at most `maxBytes` of UTF-8 by replacing its middle with a note. */
export function clipMiddle(text: string, maxBytes: number): ClippedText {
  return clip(text, maxBytes, 0.5);
}

/** `headShare` is the share of the kept text that comes from the beginning. */
function clip(text: string, maxBytes: number, headShare: number): ClippedText {
  if (text.length * 3 <= maxBytes) return { text, cutBytes: 0 };
  // Copies bytes instead of using slice(), because a slice keeps the whole original in memory.
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return { text, cutBytes: 0 };
  const marker = (cut: number) => `\n… ${cut} bytes cut …\n`;
  const keptBytes = Math.max(0, maxBytes - Buffer.byteLength(marker(bytes.length)));
  const headBytes = Math.ceil(keptBytes * headShare);
  const tailStart = findNextLine(bytes, bytes.length - (keptBytes - headBytes));
  // A split character decodes to U+FFFD.
  const head = bytes.toString('utf8', 0, headBytes).replace(/\uFFFD$/, '');
  const tail = bytes.toString('utf8', tailStart).replace(/^\uFFFD+/, '');
  const cutBytes = bytes.length - Buffer.byteLength(head) - Buffer.byteLength(tail);
  const clipped = head + marker(cutBytes) + tail;
  return { text: head === '' ? clipped.trimStart() : clipped, cutBytes };
}

/**
 * Returns the start of the first whole line at or after a position, because half a path would look like a different path; in a long line, the position
 * itself.
 */
function findNextLine(bytes: Buffer, at: number): number {
  if (bytes[at - 1] === lineFeed) return at;
  const feed = bytes.subarray(at, at + LONG_LINE_BYTES).indexOf(lineFeed);
  return feed < 0 || at + feed + 1 === bytes.length ? at : at + feed + 1;
}

/**
 * Collects sentences about missing and shortened evidence, without duplicates. All code that gathers text has an instance, so it also carries the
 * function that cleans text.
 */
export class EvidenceNotes {
  readonly #missing = new Set<string>();
  readonly #cut = new Set<string>();
  readonly clean: (text: string) => string;

  /** `clean` is `Redactor.clean`; the default does not know the secrets of the current environment. */
  constructor(clean: (text: string) => string = cleanText) {
    this.clean = clean;
  }

  noteMissing(sentence: string): void {
    this.#missing.add(this.#note(sentence));
  }

  noteCut(sentence: string): void {
    this.#cut.add(this.#note(sentence));
  }

  get missing(): string[] {
    return [...this.#missing];
  }

  get cuts(): string[] {
    return [...this.#cut];
  }

  #note(sentence: string): string {
    return clipMiddle(this.clean(clipMiddle(sentence, bounds.note * 4).text), bounds.note).text;
  }

  /** Gathers one part. If that throws, notes that this part is missing (EV-12), and returns null. */
  async tryGather<T>(part: string, work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.noteMissing(`${part}: ${readFirstLine(error)}`);
      return null;
    }
  }
}

/** Returns the first line of an error's message. */
export function readFirstLine(error: unknown): string {
  return describeError(error).split('\n', 1)[0] ?? '';
}

/**
 * Makes untrusted text safe to keep and to show (EV-9, EV-10): removes terminal codes and invisible characters, and masks secrets that have
 * a recognizable format. `Redactor.clean` also masks the secrets of the current environment. Idempotent.
 */
export function cleanText(text: string): string {
  return redact(visibleText(text));
}

/** Returns the errors cleaned, masked and bounded; if there are too many, only the first ones. */
export function cleanErrors(errors: readonly TestError[], notes: EvidenceNotes): TestError[] {
  if (errors.length > bounds.errorCount) {
    notes.noteCut(`${bounds.errorCount} of ${errors.length} errors were kept`);
  }
  return errors.slice(0, bounds.errorCount).map((error) => cleanError(error, notes));
}

function cleanError(error: TestError, notes: EvidenceNotes): TestError {
  const boundText = (text: string, part: TextPart) => cleanAndClip(text, part, notes);
  const parts = { message: 'errorText', stack: 'errorText', snippet: 'snippet' } as const;
  return {
    ...mapParts(error, parts, boundText),
    causes: error.causes.slice(0, bounds.causeCount).map((cause) => boundText(cause, 'cause')),
  };
}

/** Returns a request cleaned, masked and bounded. */
export function cleanRequest(entry: NetworkEntry, notes: EvidenceNotes): NetworkEntry {
  const isErrorPageBody = entry.resourceType === 'document' && isErrorPage(entry);
  const bounded = {
    ...entry,
    // The markup explains nothing, and would leave no room for the text.
    ...(isErrorPageBody ? { responseBody: readPageText(entry.responseBody ?? '') } : {}),
    requestHeaders: keepFirstHeaders(entry.requestHeaders, notes),
    responseHeaders: keepFirstHeaders(entry.responseHeaders, notes),
  };
  return mapParts(bounded, requestParts, (text, part, header = '') =>
    isSecretHeader(header) && text !== '' ? maskHeader(header, text, notes) : cleanAndClip(text, part, notes),
  );
}

function keepFirstHeaders(
  headers: NetworkEntry['requestHeaders'],
  notes: EvidenceNotes,
): NetworkEntry['requestHeaders'] {
  const all = Object.entries(headers);
  if (all.length > bounds.headerCount) notes.noteCut(`a request had more than ${bounds.headerCount} headers`);
  return Object.fromEntries(all.slice(0, bounds.headerCount));
}

/** Matches a cookie's attributes, but not its name and value. */
const cookieAttribute =
  /^(?:(?:domain|path|expires|max-age|samesite|priority)=|(?:secure|httponly|partitioned)$)/i;

/** Masks cookie values. Keeps names and attributes, because a wrong attribute makes a browser reject a cookie. */
function maskCookieValues(name: string, value: string, notes: EvidenceNotes): string {
  const masked = value.split('\n').map((line) => {
    const cleaned = notes.clean(`${name}: ${line}`).slice(name.length + 2);
    return cleaned
      .split(/;\s*/)
      .map((part) => {
        if (cookieAttribute.test(part)) return part;
        const [, key = '', value = part] = /^([^=]*=)(.*)$/s.exec(part) ?? [];
        return `${key}${/\[masked: [^\]\n]{1,80}\]/.exec(value)?.[0] ?? '[masked: value]'}`;
      })
      .join('; ');
  });
  return cleanAndClip(masked.join('\n'), 'headerValue', notes);
}

/** Masks the value of a header that carries credentials. The same secret has the same mask everywhere. */
function maskHeader(name: string, value: string, notes: EvidenceNotes): string {
  if (/^(?:set-)?cookie$/i.test(name)) return maskCookieValues(name, value, notes);
  const cleaned = cleanAndClip(`${name}: ${value}`, 'headerValue', notes);
  return cleaned.match(/\[masked: [^\]\n]{1,80}\]/g)?.join(' ') ?? `[masked: value of ${name.toLowerCase()}]`;
}
