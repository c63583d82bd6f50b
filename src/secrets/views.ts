import { visibleText } from '../core/visible-text.js';
import { type View, ViewBuilder } from './view.js';

/** JSON in JSON in a URL is three deep; what is deeper was made to be slow. */
const deepest = 4;

/** Named references for the ASCII characters that serialisers of HTML and XML name. */
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
  /(?<stamp>^\d{12,14} )|(?<colour>\\(?:u001[bB]|x1[bB]|033|e)\[[\d;]{0,20}[A-Za-z])|\\(?:u(?<unicode>[\dA-Fa-f]{4})|u\{(?<braced>[\dA-Fa-f]{1,6})\}|x(?<byte>[\dA-Fa-f]{2})|(?<plain>[^\n]))|(?<percent>(?:%[\dA-Fa-f]{2}){1,4096})|&(?:#(?<decimal>\d{1,7})|#[xX](?<hex>[\dA-Fa-f]{1,6})|(?<reference>[A-Za-z]{2,7}));/gm;

const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/**
 * The text itself, and how it reads when a layer of escapes is undone, and another, as long as there is any: those of
 * JSON and JavaScript, URLs, HTML and shells, colours and what cannot be seen, and the stamps that we put before the lines of a
 * server's log. So one rule finds a secret in any of them, or in one within another.
 */
export function viewsOf(text: View): View[] {
  const views = [text];
  for (let last: View | null = text; last !== null && views.length <= deepest;) {
    last = undone(last);
    if (last !== null) views.push(last);
  }
  return views;
}

/** Characters on either side of an escape that are looked at with it, at most. */
const surroundings = 4096;
/** Escapes that are no further from each other are looked at together. */
const nearby = 256;
/** What stands for the text that a view leaves out; a noncharacter, of which no name and no value is made. */
const gap = '\n\ufdd1\n';

/** The lines that hold escapes, and their neighbours, without these escapes: all others read as they did before. */
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

/** The end of the line behind that of the place. */
function linesAfter(text: string, at: number): number {
  const near = text.slice(at, at + surroundings);
  const end = near.indexOf('\n');
  const next = end === -1 ? -1 : near.indexOf('\n', end + 1);
  return at + (next === -1 ? near.length : next + 1);
}

/** The beginning of the line before that of the place. */
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

/** What an escape stands for; null where it stands for itself. */
function piecesOf(match: RegExpMatchArray): readonly Piece[] | null {
  const { stamp, colour, unicode, braced, byte, plain, percent, decimal, hex, reference } =
    match.groups ?? {};
  const width = match[0].length;
  if (stamp !== undefined || colour !== undefined) return [{ text: '', width }];
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
  // Half of a pair is seen once the other is there.
  return [{ text: /\p{Surrogate}/u.test(text) ? text : visibleText(text), width }];
}

/** The characters of percent-encoded UTF-8, each as wide as its bytes were written; what is no UTF-8 reads as it is. */
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
