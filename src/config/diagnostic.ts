import { widthOf } from '../width.js';

/** A text whose mistakes are to be shown, under the name by which a person opens it. */
export interface SourceText {
  readonly name: string;
  readonly text: string;
}

/** One mistake in a text: what is wrong, and the offsets (in UTF-16 units, the end not included) of the fault. */
export interface Diagnostic {
  readonly start: number;
  readonly end: number;
  readonly message: string;
}

/** More than this many mistakes help nobody; the rest is counted. */
const MAX_SHOWN = 100;

/** A line is shown up to this length, around the fault. */
const MAX_LINE = 110;

/** How much of a long line is shown before the fault. */
const LEAD = 40;

const INDENT = '    ';

/** Renders mistakes in the order of the text, each as a position, a message, the line, and a marker under the fault. */
export function renderDiagnostics(source: SourceText, diagnostics: readonly Diagnostic[]): string {
  const sorted = [...diagnostics].sort((a, b) => a.start - b.start || a.end - b.end);
  const shown = sorted.slice(0, MAX_SHOWN).map((diagnostic) => renderDiagnostic(source, diagnostic));
  const more = sorted.length - shown.length;
  return [...shown, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n\n');
}

/**
 * Renders one mistake, in the manner of a compiler:
 *
 *     agents.yaml:3:3 unknown class "runtime-eror"; did you mean "runtime-error"?
 *           runtime-eror: [debugger]
 *           ~~~~~~~~~~~~
 */
export function renderDiagnostic({ name, text }: SourceText, diagnostic: Diagnostic): string {
  const { start, end } = ontoVisibleLine(text, diagnostic);
  const lineStart = lineStartOf(text, start);
  const line = lineFrom(text, lineStart);
  const number = countLines(text, lineStart);
  const column = start - lineStart;
  const head = `${name}:${number}:${column + 1} ${printable(diagnostic.message)}`;
  return [head, ...markLine(line, column, Math.min(end - lineStart, line.length))].join('\n');
}

/** The offset at which the line of an offset starts. */
export function lineStartOf(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** A fault at the end of the file is shown behind the last line that has anything to show. */
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

function countLines(text: string, lineStart: number): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < lineStart; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** A line and a marker under the columns `from` to `to` (the end not included); a long line is cut around them. */
export function markLine(line: string, from: number, to: number): string[] {
  const cutStart = line.length > MAX_LINE ? Math.max(0, from - LEAD) : 0;
  const cutEnd = cutStart + MAX_LINE;
  const before = (cutStart > 0 ? '…' : '') + line.slice(cutStart, from);
  const fault = line.slice(from, Math.min(to, cutEnd));
  const after = line.slice(from + fault.length, cutEnd) + (line.length > cutEnd ? '…' : '');
  const marker = '~'.repeat(Math.max(1, blank(printable(fault)).length));
  return [INDENT + printable(before + fault + after), INDENT + blank(printable(before)) + marker];
}

/** Control characters, lone surrogates, and marks that reorder text must not reach a terminal. */
function printable(text: string): string {
  return text.replace(/(?!\t)[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD');
}

/** Spaces as wide as the text is in a terminal; a tab stays a tab, since only the terminal knows its width. */
function blank(text: string): string {
  return text
    .split('\t')
    .map((part) => ' '.repeat(widthOf(part)))
    .join('\t');
}
