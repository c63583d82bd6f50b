import { terminalCodes, invisibleCharacters } from '../visible-text.js';

/** A decoded text, with a mapping of its ranges back to the original. */
export interface DecodedText {
  readonly text: string;
  /** Maps the range `[start, end)` of this text back to the original. */
  readonly toOriginalRange: (start: number, end: number) => readonly [start: number, end: number];
}

/** Stands for a mask: a noncharacter, which no name or value contains (Unicode 23.7). */
export const MASK_PLACEHOLDER = '\ufdd0';

/** A range of a text, and the text that replaces it. */
interface Piece {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Replaces ranges of a text, which must be in order, and keeps the mapping to the original. */
export function replacePieces(original: DecodedText, pieces: readonly Piece[]): DecodedText {
  if (pieces.length === 0) return original;
  const { text } = original;
  const starts = new Uint32Array(text.length);
  const ends = new Uint32Array(text.length);
  const parts: string[] = [];
  let [length, at] = [0, 0];
  const copyTo = (to: number): void => {
    for (let from = at; from < to; from += 1, length += 1) [starts[length], ends[length]] = [from, from + 1];
    parts.push(text.slice(at, to));
  };
  for (const piece of pieces) {
    copyTo(piece.start);
    // A replacement is never longer than the range.
    for (let n = 0; n < piece.text.length; n += 1, length += 1)
      [starts[length], ends[length]] = [piece.start, piece.end];
    parts.push(piece.text);
    at = piece.end;
  }
  copyTo(text.length);
  return {
    text: parts.join(''),
    toOriginalRange: (start, end) => original.toOriginalRange(starts[start] ?? 0, ends[end - 1] ?? 0),
  };
}

/** Wraps a text that needs no decoding. */
export function wrapUnchanged(text: string): DecodedText {
  return { text, toOriginalRange: (start, end) => [start, end] };
}

/**
 * Parts that decoding drops: control codes and invisible characters, also in escaped form; the time that we put before each line of a server
 * log; and the label that Playwright puts before each chunk of a server's output, even in the middle of a line.
 */
const ignoredParts = [
  terminalCodes.source,
  invisibleCharacters.source,
  String.raw`\\{1,32}(?:u001[bB]|x1[bB]|033|e)\[[\d;]{0,20}[A-Za-z]`,
  String.raw`^\d{12,14} `,
  String.raw`(?<![^\S\n])\[\w[\w .-]{0,39}\] (?=\S)`,
].join('|');

/**
 * Escape sequences of JSON, JavaScript, shells, URLs and HTML, including doubly escaped ones (two backslashes for one, `%25` for `%`, `&amp;` for
 * `&`).
 */
const escapes = [
  String.raw`\\{1,32}(?:u(?:(?<unicode>[\dA-Fa-f]{4})|\{(?<braced>[\dA-Fa-f]{1,6})\})|U(?<long>[\dA-Fa-f]{8}))`,
  String.raw`\\{1,32}x(?<byte>[\dA-Fa-f]{2})`,
  String.raw`\\{1,32}(?<blank>[nrtbf])`,
  String.raw`\\{1,32}(?=[^\w\\])`,
  String.raw`(?<percent>(?:%(?:25)*[\dA-Fa-f]{2}){1,4096})`,
  String.raw`&(?:amp;)*#(?<decimal>\d{1,7});`,
  String.raw`&(?:amp;)*#[xX](?<hex>[\dA-Fa-f]{1,6});`,
  String.raw`&(?:amp;)*(?<reference>quot|apos|lt|gt|nbsp|sol|equals|plus|commat|colon);`,
  String.raw`(?<ampersand>&(?:amp;)+)`,
].join('|');

const decodable = new RegExp(`(?:${ignoredParts})|${escapes}`, 'gmu');
/** A quick check, because most texts need no decoding. */
const mayNeedDecoding = /[^\t\n -~]|[\\%&]|\] |^\d{12,14} /m;

const references: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  lt: '<',
  gt: '>',
  nbsp: ' ',
  sol: '/',
  equals: '=',
  plus: '+',
  commat: '@',
  colon: ':',
};

/** The most layers of different escapes to undo, such as JSON in a URL. Only a text made to slow us down has more. */
const MAX_LAYERS = 3;

/** Undoes the escapes in a text, however often they were escaped, and drops the ignored parts. */
export function decodeText(text: string): DecodedText {
  let decoded = wrapUnchanged(text);
  for (let layers = 0; layers < MAX_LAYERS && mayNeedDecoding.test(decoded.text); layers += 1) {
    const pieces = [...listPieces(decoded.text)];
    if (pieces.length === 0) break;
    decoded = replacePieces(decoded, pieces);
  }
  return decoded;
}

function* listPieces(text: string): Iterable<Piece> {
  for (const { 0: escape, index: start, groups = {} } of text.matchAll(decodable)) {
    if (groups['percent'] === undefined)
      yield { start, end: start + escape.length, text: decodeEscape(groups) };
    else yield* decodePercent(escape, start);
  }
}

function decodeEscape(groups: Readonly<Record<string, string | undefined>>): string {
  const { unicode, braced, long, byte, blank, decimal, reference, ampersand } = groups;
  if (blank !== undefined) return blank === 'n' ? '\n' : ' ';
  if (reference !== undefined) return references[reference] ?? '';
  if (ampersand !== undefined) return '&';
  const hex = unicode ?? braced ?? long ?? byte ?? groups['hex'];
  if (hex === undefined && decimal === undefined) return '';
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code).replace(invisibleCharacters, '') : '\ufffd';
}

/** Decodes percent-encoded UTF-8; decodes anything else byte by byte. */
function* decodePercent(percent: string, from: number): Iterable<Piece> {
  const encoded = percent.match(/%(?:25)*[\dA-Fa-f]{2}/g) ?? [];
  const bytes = Buffer.from(encoded.map((byte) => byte.slice(-2)).join(''), 'hex');
  const text = bytes.toString('utf8');
  const isText = !text.includes('\ufffd');
  const characters = isText ? Array.from(text) : Array.from(bytes, (byte) => String.fromCharCode(byte));
  let [at, start] = [0, from];
  for (const character of characters) {
    const count = isText ? Buffer.byteLength(character) : 1;
    const end = start + encoded.slice(at, at + count).join('').length;
    yield { start, end, text: character };
    [at, start] = [at + count, end];
  }
}

/** Maps each text in plain data, and each key if `mapKey` is given. Unchanged parts are not copied. */
export function mapTexts<T>(value: T, map: (text: string) => string, mapKey = (key: string) => key): T {
  return mapValue(value, map, mapKey) as T;
}

type MapText = (text: string) => string;

function mapValue(value: unknown, map: MapText, mapKey: MapText): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map((item) => mapValue(item, map, mapKey));
    return all.every((item, at) => item === value[at]) ? value : all;
  }
  // Without a pair for each field, since a run announces thousands of tests at once.
  const keys: string[] = [];
  const fields: unknown[] = [];
  let isSame = true;
  for (const [key, field] of Object.entries(value)) {
    const [newKey, newField] = [mapKey(key), mapValue(field, map, mapKey)];
    isSame &&= newKey === key && newField === field;
    keys.push(newKey);
    fields.push(newField);
  }
  return isSame ? value : Object.fromEntries(keys.map((key, at) => [key, fields[at]]));
}

/** A range of a text that looks like a secret; `end` is exclusive. */
export interface SecretMatch {
  readonly start: number;
  readonly end: number;
  /** The kind of secret that the mask names: `github token`. */
  readonly kind: string;
  /** The mask's full label, if it is already known. */
  readonly label?: string;
}
