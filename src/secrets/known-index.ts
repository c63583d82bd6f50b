import type { Found } from './found.js';
import { type View, ViewBuilder, viewOf } from './view.js';

/** An index of known values to look for in every text, each with the label of its mask. */
export interface KnownIndex {
  /** Does nothing if the value is already known. */
  readonly add: (value: string, label: string) => void;
  readonly find: (text: string) => readonly Found[];
}

/** Values by their first characters, and a lookup table of the character pairs that values begin with, which is faster to check. */
interface Entries {
  readonly byAnchor: Map<string, Entry[]>;
  readonly begins: Uint8Array;
}

interface Entry {
  readonly bare: string;
  readonly label: string;
}

/** How many characters of a value are looked up at each position of a text. */
const anchorLength = 6;
/** Values of at least this length are also found inside words; shorter ones must stand alone. */
const longEnough = 12;
/** How many characters of a longer value must be present to recognize it where the text is cut off. */
const cutLength = 10;
/** Bounds the index: a run that finds more values than this is not finding secrets. */
const mostEntries = 10_000;

/** Creates an empty index. The time to search a text depends on its length, not on the number of values. */
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
      // A value may begin within another one. An overlap with itself is skipped: only repetitive values have one, and it is slow to check.
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

/** Returns how much of the value is at this position: all of it, enough of it to be recognized, or 0. */
function lengthAt(text: string, at: number, value: string): number {
  if (text.startsWith(value, at)) return value.length;
  if (value.length < longEnough + anchorLength) return 0;
  let length = anchorLength;
  while (length < value.length && text[at + length] === value[length]) length += 1;
  return length >= cutLength ? length : 0;
}

/** Whether the text ends here, continues as a string on the next line, or is marked as shortened. */
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

/** Characters that Playwright replaces with `-` when it makes file names of titles and names (`sanitizeForFilePath`). */
const notInFileNames = /[\0-,./:-@[-`{-\x7f]+/g;

/** The value itself, its bytes encoded, its form in file names, and each line of a multi-line value; views cover all other spellings. */
function spellingsOf(value: string): string[] {
  const lines = value.split(/\r?\n|\\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
  const bytes = Buffer.from(value);
  const written =
    bytes.length < 8 ? [] : [...inBase64(bytes), bytes.toString('hex'), bytes.toString('hex').toUpperCase()];
  return [...new Set([value, ...lines, value.replaceAll(notInFileNames, '-'), ...written])];
}

/** Base64 spellings of the bytes at each of the three alignments, since they may be encoded as part of a longer text such as `user:password`. */
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
 * Characters that programs insert into a value: shell quotes and backslashes, colors, line breaks with the margin of the next
 * line, string concatenation, and invisible characters.
 */
const noise =
  // oxlint-disable-next-line no-control-regex -- ESC begins terminal color sequences
  /["'`]\s{0,4}\+\s{0,40}["'`]|[\r\n][\s>|]{0,80}|\u001b\[[\d;]{0,32}[A-Za-z]|[\\"'`\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** Returns a view of the text without noise and with `+` read as a space, as in forms. Equal values are equal in it, however they were wrapped. */
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

/** Returns the end of the text before this position, without trailing blanks. */
function withoutBlanks(text: string, from: number, at: number): number {
  let end = at;
  while (end > from && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  return end;
}
