import stringWidth from 'string-width';

/** One mistake in a text: its message and its position, as UTF-16 offsets with an exclusive end. */
export interface Diagnostic {
  readonly start: number;
  readonly end: number;
  readonly message: string;
}

/** Further mistakes are only counted. */
const MAX_SHOWN = 100;

/** A longer line is shortened to `MAX_LINE_LENGTH` characters around the mistake, with `CONTEXT_BEFORE` characters before it. */
const [MAX_LINE_LENGTH, CONTEXT_BEFORE] = [110, 40];

const INDENT = '    ';

/**
 * Renders distinct mistakes in the order of the text, like a compiler:
 *
 *     agents.yaml:3:3 unknown class "runtime-eror"; did you mean "runtime-error"?
 *           runtime-eror: [debugger]
 *           ~~~~~~~~~~~~
 */
export function renderDiagnostics(name: string, text: string, diagnostics: readonly Diagnostic[]): string {
  // The parser reports an unclosed bracket once per level, and a mistake in an anchor once per alias.
  const distinct = new Map(diagnostics.map((mistake) => [`${mistake.start} ${mistake.message}`, mistake]));
  const sorted = [...distinct.values()].sort((a, b) => a.start - b.start || a.end - b.end);
  const rendered = sorted.slice(0, MAX_SHOWN).map((mistake) => renderDiagnostic(name, text, mistake));
  const more = sorted.length - rendered.length;
  return [...rendered, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n\n');
}

function renderDiagnostic(name: string, text: string, { message, ...span }: Diagnostic): string {
  const { start, end } = moveToVisibleLine(text, span);
  const lineStart = findLineStart(text, start);
  const column = start - lineStart;
  const head = `${name}:${countLine(text, start)}:${column + 1} ${makePrintable(message)}`;
  return [head, ...markColumns(readLine(text, lineStart), column, end - lineStart)].join('\n');
}

export function findLineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** Returns the number of the line of an offset, counted from 1. */
function countLine(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Moves a mistake on a blank line at the end of the file to the end of the last line with text. */
function moveToVisibleLine(text: string, { start, end }: { start: number; end: number }) {
  const from = Math.min(start, text.length);
  if (readLine(text, findLineStart(text, from)).trim() !== '') return { start: from, end };
  const visible = text.slice(0, from).trimEnd().length;
  return visible === 0 ? { start: from, end } : { start: visible, end: visible };
}

function readLine(text: string, lineStart: number): string {
  const end = text.indexOf('\n', lineStart);
  return text.slice(lineStart, end === -1 ? undefined : end).trimEnd();
}

/** Returns a line, and a second line with a marker under the columns `from` to `to` (exclusive). */
function markColumns(line: string, from: number, to: number): string[] {
  const shownStart = line.length > MAX_LINE_LENGTH ? Math.max(0, from - CONTEXT_BEFORE) : 0;
  const shownEnd = shownStart + MAX_LINE_LENGTH;
  const before = (shownStart > 0 ? '…' : '') + line.slice(shownStart, from);
  const fault = line.slice(from, Math.min(to, shownEnd));
  const after = line.slice(from + fault.length, shownEnd) + (line.length > shownEnd ? '…' : '');
  const marker = '~'.repeat(Math.max(1, replaceWithBlanks(makePrintable(fault)).length));
  const blanks = replaceWithBlanks(makePrintable(before));
  return [INDENT + makePrintable(before + fault + after), INDENT + blanks + marker];
}

/** Replaces control characters, lone surrogates and bidirectional marks, which must not reach a terminal. */
function makePrintable(text: string): string {
  return text.replace(/(?!\t)[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD');
}

/** Returns blanks as wide as the text is in a terminal. Tabs stay tabs, since only the terminal knows their width. */
function replaceWithBlanks(text: string): string {
  return text
    .split('\t')
    .map((part) => ' '.repeat(stringWidth(part)))
    .join('\t');
}
