import { visibleText } from '../core/visible-text.js';
import { type View, ViewBuilder } from './view.js';

/** JSON in JSON in a URL is three levels deep; anything deeper was made to be slow. */
const deepest = 4;

/** Named character references for the ASCII characters that HTML and XML serializers name. */
const references: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  sol: '/',
  equals: '=',
  plus: '+',
  commat: '@',
  colon: ':',
  num: '#',
  excl: '!',
  dollar: '$',
  percnt: '%',
  Tab: '\t',
  NewLine: '\n',
};

const escapes =
  /(?<stamp>^\d{12,14} )|(?<color>\\(?:u001[bB]|x1[bB]|033|e)\[[\d;]{0,20}[A-Za-z])|\\(?:u(?<unicode>[\dA-Fa-f]{4})|u\{(?<braced>[\dA-Fa-f]{1,6})\}|x(?<byte>[\dA-Fa-f]{2})|(?<plain>[^\n]))|(?<percent>(?:%[\dA-Fa-f]{2}){1,4096})|&(?:#(?<decimal>\d{1,7})|#[xX](?<hex>[\dA-Fa-f]{1,6})|(?<reference>[A-Za-z]{2,7}));/gm;

const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/**
 * Returns the text itself and how it reads as one layer of escapes after another is undone: those of JSON, JavaScript, URLs,
 * HTML and shells, colors, invisible characters, and the timestamps that we put before the lines of a server log. One rule
 * therefore finds a secret in any of them, or in one nested in another.
 */
export function viewsOf(text: View): View[] {
  const views = [text];
  for (let last: View | null = text; last !== null && views.length <= deepest;) {
    last = undone(last);
    if (last !== null) views.push(last);
  }
  return views;
}

/** How many characters on either side of an escape are included at most. */
const surroundings = 4096;
/** Escapes within this distance of each other share one piece of context. */
const nearby = 256;
/** Stands for text that a view leaves out. A noncharacter, which no name or value contains. */
const gap = '\n\ufdd1\n';

/** Returns the lines that contain escapes, with their neighbors, with one layer undone. All other lines read as before. */
function undone(view: View): View | null {
  const { text } = view;
  const builder = new ViewBuilder(text);
  let copied = 0;
  const copyUpTo = (place: number): void => {
    if (place - copied > nearby) {
      const [from, to] = [linesAfter(text, copied), linesBefore(text, place)];
      if (from < to) {
        if (copied > 0) builder.copy(copied, from);
        builder.put(gap, from, to);
        copied = to;
      }
    }
    builder.copy(copied, place);
    copied = place;
  };
  for (const match of text.matchAll(escapes)) {
    const pieces = piecesOf(match);
    if (pieces === null) continue;
    copyUpTo(match.index);
    for (const piece of pieces) {
      builder.put(piece.text, copied, copied + piece.width);
      copied += piece.width;
    }
  }
  if (copied === 0) return null;
  builder.copy(copied, linesAfter(text, copied));
  return builder.build(view);
}

/** Returns the end of the line after this position's line. */
function linesAfter(text: string, at: number): number {
  const near = text.slice(at, at + surroundings);
  const end = near.indexOf('\n');
  const next = end === -1 ? -1 : near.indexOf('\n', end + 1);
  return at + (next === -1 ? near.length : next + 1);
}

/** Returns the start of the line before this position's line. */
function linesBefore(text: string, at: number): number {
  const from = Math.max(0, at - surroundings);
  const near = text.slice(from, at);
  const begin = near.lastIndexOf('\n');
  return from + (begin <= 0 ? 0 : near.lastIndexOf('\n', begin - 1) + 1);
}

interface Piece {
  readonly text: string;
  readonly width: number;
}

/** Returns what an escape stands for; null if it stands for itself. */
function piecesOf(match: RegExpMatchArray): readonly Piece[] | null {
  const { stamp, color, unicode, braced, byte, plain, percent, decimal, hex, reference } = match.groups ?? {};
  const width = match[0].length;
  if (stamp !== undefined || color !== undefined) return [{ text: '', width }];
  if (percent !== undefined) return piecesOfBytes(percent);
  if (plain !== undefined) return [{ text: controls[plain] ?? plain, width }];
  if (reference !== undefined) {
    const text = references[reference];
    return text === undefined ? null : [{ text, width }];
  }
  const code =
    decimal === undefined ? Number.parseInt(unicode ?? braced ?? byte ?? hex ?? '', 16) : Number(decimal);
  if (code > 0x10ffff) return null;
  const text = String.fromCodePoint(code);
  // Half of a surrogate pair is kept until the other half joins it in the view.
  return [{ text: /\p{Surrogate}/u.test(text) ? text : visibleText(text), width }];
}

/** Decodes percent-encoded UTF-8; each character is as wide as its encoded bytes. Invalid UTF-8 is read byte by byte. */
function piecesOfBytes(percent: string): readonly Piece[] {
  const bytes = Buffer.from(percent.replaceAll('%', ''), 'hex');
  const pieces: Piece[] = [];
  for (const text of bytes.toString('utf8')) {
    const count = text === '\ufffd' ? 1 : Buffer.byteLength(text);
    pieces.push({ text, width: 3 * count });
  }
  const wide = pieces.reduce((sum, { width }) => sum + width, 0);
  return wide === percent.length
    ? pieces
    : [...bytes].map((one) => ({ text: String.fromCharCode(one), width: 3 }));
}
