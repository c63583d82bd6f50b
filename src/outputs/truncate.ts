import { wrapAnsi } from 'fast-wrap-ansi';
import stringWidth from 'string-width';
import { logText } from '../visible-text.js';

// Bounds how much of a very long line is measured: no column shows more than this many code units.
const MAX_UNITS_PER_COLUMN = 32;

/** Lines are not wrapped in a narrower terminal. */
const MIN_COLUMNS = 20;

const segmenter = new Intl.Segmenter();

/**
 * Truncates a text to one line of at most `width` terminal columns, counting wide characters, emoji and combining marks as a terminal does, and
 * removes terminal control sequences (EV-10). An ellipsis replaces the removed part, between words if a space is near. `from` says which part to
 * remove: the end of a sentence, or the middle of a path or a title.
 */
export function truncate(
  text: string,
  width: number,
  { from = 'end' }: { from?: 'end' | 'middle' } = {},
): string {
  const line = boundLength(text, width);
  if (measureWidth(line) <= width) return line;
  if (width < 1) return '';
  const parts = Array.from(segmenter.segment(line), ({ segment }) => segment);
  const tail = from === 'middle' ? Math.floor((width - 1) / 2) : 0;
  const last = takeUpToWidth(parts.toReversed(), tail).toReversed();
  const end =
    parts.at(-last.length - 1) === ' ' ? last.join('') : last.join('').replace(/^\S{1,20}(?= )/, '');
  const start = takeUpToWidth(parts, width - 1 - measureWidth(end));
  const isWithinWord = parts[start.length] !== ' ';
  return `${isWithinWord ? start.join('').replace(/(?<= )\S{1,20}$/, '') : start.join('')}…${end}`;
}

/**
 * Wraps a text into lines of at most `width` columns, and removes terminal control sequences (EV-10). Without a terminal, `width` is `Infinity` and
 * the text stays on one line.
 */
export function wrap(text: string, width: number): string[] {
  return breakLine(toOneLine(text), width);
}

/** Matches a line's leading spaces and first column. Continuation lines are indented by that width. */
const hangingIndent = /^ *(?:→ |\S+(?: \S+){0,3}? {2,})?/;
/** A command, which people copy as a whole line. */
const isCommand = /^\s*(?:→ )?(?:npx )?self-heal \S/;

/** Wraps lines that are wider than the terminal, and indents their continuation. Does not break commands. */
export function wrapLines(text: string, columns: number | undefined): string {
  if (!columns) return text;
  return text
    .split('\n')
    .flatMap((line) => {
      if (isCommand.test(line) || measureWidth(line) <= columns) return [line];
      const [start = ''] = hangingIndent.exec(line) ?? [];
      const indent = Math.min(measureWidth(start), columns >> 1);
      const [first = '', ...rest] = breakLine(line.slice(start.length), columns - 1 - indent);
      return [`${start}${first}`, ...rest.map((part) => `${' '.repeat(indent)}${part}`)];
    })
    .join('\n');
}

// oxlint-disable-next-line no-control-regex -- matches our own color codes
const colors = /(\u001b\[[0-9;]*m)/;

/** Like `wrap`, for a line with our own color codes, which have no width. */
export function wrapPainted(line: string, width: number): string[] {
  const visible = line
    .split(colors)
    .map((part, index) => (index % 2 === 1 ? part : logText(part).replaceAll(/\s*\n\s*/g, ' ')))
    .join('');
  return breakLine(visible, width);
}

function breakLine(line: string, width: number): string[] {
  // A terminal this narrow wraps text better itself.
  if (width < MIN_COLUMNS) return [line];
  // No code unit is wider than two columns, so a short line needs no measuring.
  if (line.length * 2 <= width || measureWidth(line) <= width) return [line];
  return wrapAnsi(line, width, { hard: true }).split('\n');
}

function boundLength(text: string, width: number): string {
  const maxLength = Math.max(256, width * MAX_UNITS_PER_COLUMN);
  const bounded =
    text.length <= maxLength * 2 ? text : `${text.slice(0, maxLength)}…${text.slice(-maxLength)}`;
  return toOneLine(bounded);
}

/** Returns a text as one line without terminal control sequences. */
function toOneLine(text: string): string {
  return logText(text).replaceAll(/\s+/g, ' ').trim();
}

function takeUpToWidth(parts: readonly string[], width: number): string[] {
  let usedWidth = 0;
  const fitting: string[] = [];
  for (const part of parts) {
    usedWidth += measureWidth(part);
    if (usedWidth > width) break;
    fitting.push(part);
  }
  return fitting;
}

/** Latin letters, dashes, quotes, arrows, and the symbols in our own output. */
const narrow = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027\u203a\u2190-\u2193▸✓✔✖✗]*$/;

/** Returns the width of a text in terminal columns. string-width is only used for unusual characters, since its first call takes 20 ms. */
function measureWidth(text: string): number {
  return narrow.test(text) ? text.length : stringWidth(text);
}
