import { widthOf } from '../width.js';

/** A text to show mistakes in, with the name of its file as a person would write it. */
export interface SourceText {
  readonly name: string;
  readonly text: string;
}

/** One mistake in a text: the message, and where it is, as UTF-16 offsets with an exclusive end. */
export interface Diagnostic {
  readonly start: number;
  readonly end: number;
  readonly message: string;
}

/** The maximum number of mistakes shown; the rest are only counted. */
const MAX_SHOWN = 100;

/** The maximum length of a shown line, cut around the mistake. */
const MAX_LINE = 110;

/** How much of a long line is shown before the mistake. */
const LEAD = 40;

const INDENT = '    ';

/** Renders mistakes in the order of the text, each with its position, message, line, and a marker under the mistake. */
export function renderDiagnostics(source: SourceText, diagnostics: readonly Diagnostic[]): string {
  const sorted = [...diagnostics].sort((a, b) => a.start - b.start || a.end - b.end);
  const shown = sorted.slice(0, MAX_SHOWN).map((diagnostic) => renderDiagnostic(source, diagnostic));
  const more = sorted.length - shown.length;
  return [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n\n');
}

/**
 * Renders one mistake like a compiler:
 *
 *     agents.yaml:3:3 unknown class "runtime-eror"; did you mean "runtime-error"?
 *           runtime-eror: [debugger]
 *           ~~~~~~~~~~~~
 */
export function renderDiagnostic({ name, text }: SourceText, diagnostic: Diagnostic): string {
  const { start, end } = ontoVisibleLine(text, diagnostic);
  const lineStart = lineStartOf(text, start);
  const line = lineFrom(text, lineStart);
  const column = start - lineStart;
  const head = `${name}:${lineNumberAt(text, start)}:${column + 1} ${printable(diagnostic.message)}`;
  return [head, ...markLine(line, column, Math.min(end - lineStart, line.length))].join('\n');
}

/** Returns the offset at which the line of an offset starts. */
export function lineStartOf(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** Moves a mistake at the end of the file to the end of the last non-blank line. */
export function ontoVisibleLine(
  text: string,
  { start, end }: { start: number; end: number },
): { start: number; end: number } {
  const from = Math.min(start, text.length);
  if (lineFrom(text, lineStartOf(text, from)).trim() !== '') return { start: from, end };
  const visible = text.slice(0, from).trimEnd().length;
  return visible === 0 ? { start: from, end } : { start: visible, end: visible };
}

function lineFrom(text: string, lineStart: number): string {
  const end = text.indexOf('\n', lineStart);
  return text.slice(lineStart, end === -1 ? undefined : end).trimEnd();
}

/** Returns the number of the line of an offset, counted from 1. */
export function lineNumberAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Renders a line and a marker under the columns `from` to `to` (exclusive). A long line is cut around them. */
export function markLine(line: string, from: number, to: number): string[] {
  const cutStart = line.length > MAX_LINE ? Math.max(0, from - LEAD) : 0;
  const cutEnd = cutStart + MAX_LINE;
  const before = (cutStart > 0 ? '…' : '') + line.slice(cutStart, from);
  const fault = line.slice(from, Math.min(to, cutEnd));
  const after = line.slice(from + fault.length, cutEnd) + (line.length > cutEnd ? '…' : '');
  const marker = '~'.repeat(Math.max(1, blank(printable(fault)).length));
  return [INDENT + printable(before + fault + after), INDENT + blank(printable(before)) + marker];
}

/** Replaces control characters, lone surrogates and bidirectional marks, which must not reach a terminal. */
function printable(text: string): string {
  return text.replace(/(?!\t)[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD');
}

/** Returns blanks as wide as the text is in a terminal. Tabs stay tabs, since only the terminal knows their width. */
function blank(text: string): string {
  return text
    .split('\t')
    .map((part) => ' '.repeat(widthOf(part)))
    .join('\t');
}
