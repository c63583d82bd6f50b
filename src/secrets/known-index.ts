import type { Found } from './found.js';
import { type View, ViewBuilder, viewOf } from './view.js';

/** Values that are looked for in every text, each with what its mask says. */
export interface KnownIndex {
  /** Nothing changes where the value is known already. */
  readonly add: (value: string, label: string) => void;
  readonly find: (text: string) => readonly Found[];
}

/** Values by their first characters, and which pairs of characters any of them begins with, which is quicker to ask. */
interface Entries {
  readonly byAnchor: Map<string, Entry[]>;
  readonly begins: Uint8Array;
}

interface Entry {
  readonly bare: string;
  readonly label: string;
}

/** As much of a value as is looked up at each place of a text. */
const anchorLength = 6;
/** Long enough to be looked for within words; shorter ones have to stand alone. */
const longEnough = 12;
/** What of a longer value is known where a text is cut off behind it. */
const cutLength = 10;
/** A run that meets more secrets than these has a flood of something else. */
const mostEntries = 10_000;

/** Makes an index that is empty; finding takes time by the length of the text, not by the number of values. */
export function createKnownIndex(): KnownIndex {
  const entries: Entries = { byAnchor: new Map(), begins: new Uint8Array(0x10000) };
  const added = new Set<string>();
  const addSpelling = (text: string, label: string) => {
    const { text: bare } = bareView(text);
    if (bare.length < anchorLength || added.has(bare) || added.size >= mostEntries) return;
    added.add(bare);
    const anchor = bare.slice(0, anchorLength);
    const others = entries.byAnchor.get(anchor);
    if (others) others.push({ bare, label });
    else entries.byAnchor.set(anchor, [{ bare, label }]);
    entries.begins[pairAt(bare, 0)] = 1;
  };
  return {
    add: (value, label) => {
      for (const spelling of spellingsOf(value)) addSpelling(spelling, label);
    },
    find: (text) => (added.size === 0 ? [] : foundIn(text, entries)),
  };
}

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) << 8) ^ text.charCodeAt(at + 1)) & 0xffff;
}

function foundIn(text: string, { byAnchor, begins }: Entries): Found[] {
  const bare = bareView(text);
  const found: Found[] = [];
  const ends = new Map<Entry, number>();
  for (let at = 0; at + anchorLength <= bare.text.length; at += 1) {
    if (begins[pairAt(bare.text, at)] === 0) continue;
    for (const entry of byAnchor.get(bare.text.slice(at, at + anchorLength)) ?? []) {
      // One value may begin within another; within itself only where it repeats itself, which takes long to look at.
      if (at < (ends.get(entry) ?? 0)) continue;
      const match = matchAt(text, bare, { at, ...entry });
      if (match === null) continue;
      found.push(match.found);
      ends.set(entry, at + match.length);
    }
  }
  return found;
}

interface Match {
  readonly length: number;
  readonly found: Found;
}

function matchAt(text: string, view: View, { at, bare, label }: Entry & { at: number }): Match | null {
  const length = lengthAt(view.text, at, bare);
  if (length === 0) return null;
  const [start, end] = view.source(at, at + length);
  if (length < bare.length && !isCutAt(text, end)) return null;
  if (length < longEnough && !standsAlone(text, start, end)) return null;
  return { length, found: { start, end, kind: 'known value', label } };
}

/** How much of the value stands there: all of it, or as much as can be known again, or nothing. */
function lengthAt(text: string, at: number, value: string): number {
  if (text.startsWith(value, at)) return value.length;
  if (value.length < longEnough + anchorLength) return 0;
  let length = anchorLength;
  while (length < value.length && text[at + length] === value[length]) length += 1;
  return length >= cutLength ? length : 0;
}

/** Whether the text ends there, in a string that goes on in the next line too, or says that it was shortened. */
function isCutAt(text: string, end: number): boolean {
  return /^(?:(?:["'`]\s{0,2}[+\\]|\\)?[\s>|]{0,80}["'`]?$|[ "'`)]{0,2}(?:…|\.{3}))/.test(
    text.slice(end, end + 90),
  );
}

function standsAlone(text: string, start: number, end: number): boolean {
  return (
    !/[A-Za-z0-9]$/.test(text.slice(Math.max(0, start - 1), start)) &&
    !/^[A-Za-z0-9]/.test(text.slice(end, end + 1))
  );
}

/** What Playwright writes as `-` where titles and names become names of files (`sanitizeForFilePath`). */
const notInFileNames = /[\0-,./:-@[-`{-\x7f]+/g;

/** As it is, as bytes, in a file's name, and, where it has several lines, each of them; all else are views of these. */
function spellingsOf(value: string): string[] {
  const lines = value.split(/\r?\n|\\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
  const bytes = Buffer.from(value);
  const written =
    bytes.length < 8 ? [] : [...inBase64(bytes), bytes.toString('hex'), bytes.toString('hex').toUpperCase()];
  return [...new Set([value, ...lines, value.replaceAll(notInFileNames, '-'), ...written])];
}

/** What is left of bytes in base64 wherever they begin in what was encoded, as in `user:password`. */
function inBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const torn = (offset + bytes.length) % 3 === 0 ? 0 : 1;
    const core = encoded.slice([0, 2, 3][offset], encoded.length - torn);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/**
 * What programs put between the characters of a value: quotes and backslashes of a shell, colours, the end of a line and
 * the margin of the next one, the joint of two strings, and what cannot be seen.
 */
const noise =
  // oxlint-disable-next-line no-control-regex -- ESC begins what colours a terminal
  /["'`]\s{0,4}\+\s{0,40}["'`]|[\r\n][\s>|]{0,80}|\u001b\[[\d;]{0,32}[A-Za-z]|[\\"'`\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** A text without its noise, in which `+` is a blank as in forms; equal values are equal in it however they were wrapped. */
function bareView(text: string): View {
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
