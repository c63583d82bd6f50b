import { wrapAnsi } from 'fast-wrap-ansi';
import stringWidth from 'string-width';
import { logText } from '../visible-text.js';

// Measures only the beginning of a very long line: no column shows more than this many code units.
const UNITS_A_COLUMN = 32;

/** A width below which lines are not broken. */
const FEWEST_COLUMNS = 20;

const segmenter = new Intl.Segmenter();

/**
 * Makes a text fit into one line of at most `width` columns, as a terminal counts them (wide characters, emoji, combining marks), and
 * removes terminal control sequences (EV-10). An ellipsis marks the cut, which is between words if a space is near. `from` chooses the removed part:
 * the end, as for a sentence, or the middle, as for a path or a title, which both ends identify.
 */
export function cut(text: string, width: number, { from = 'end' }: { from?: 'end' | 'middle' } = {}): string {
  const line = fitLine(text, width);
  if (measureWidth(line) <= width) return line;
  if (width < 1) return '';
  const parts = Array.from(segmenter.segment(line), ({ segment }) => segment);
  const tail = from === 'middle' ? Math.floor((width - 1) / 2) : 0;
  const last = takeFitting(parts.toReversed(), tail).toReversed();
  const end =
    parts.at(-last.length - 1) === ' ' ? last.join('') : last.join('').replace(/^\S{1,20}(?= )/, '');
  const start = takeFitting(parts, width - 1 - measureWidth(end));
  const isWithinWord = parts[start.length] !== ' ';
  return `${isWithinWord ? start.join('').replace(/(?<= )\S{1,20}$/, '') : start.join('')}…${end}`;
}

/**
 * Breaks a text that a person has to read in full into lines of at most `width` columns, without terminal control sequences (EV-10). Without a
 * terminal there is no width (`Infinity`), and it stays on one line.
 */
export function wrap(text: string, width: number): string[] {
  return breakLine(flatten(text), width);
}

/** Matches the spaces and the first column of a line. Its continuation is indented by that width. */
const margin = /^ *(?:→ |\S+(?: \S+){0,3}? {2,})?/;
/** A command, which people copy as a whole line. */
const isCommand = /^\s*(?:→ )?(?:npx )?self-heal \S/;

/** Wraps lines that are wider than the terminal, and indents their continuation. Does not break commands. */
export function wrapLines(text: string, columns: number | undefined): string {
  if (!columns) return text;
  return text
    .split('\n')
    .flatMap((line) => {
      if (isCommand.test(line) || measureWidth(line) <= columns) return [line];
      const [start = ''] = margin.exec(line) ?? [];
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
  if (width < FEWEST_COLUMNS) return [line];
  // No code unit is wider than two columns, so a short line needs no measuring.
  if (line.length * 2 <= width || measureWidth(line) <= width) return [line];
  return wrapAnsi(line, width, { hard: true }).split('\n');
}

function fitLine(text: string, width: number): string {
  const most = Math.max(256, width * UNITS_A_COLUMN);
  const bounded = text.length <= most * 2 ? text : `${text.slice(0, most)}…${text.slice(-most)}`;
  return flatten(bounded);
}

/** Returns a text as one line without terminal control sequences. */
function flatten(text: string): string {
  return logText(text).replaceAll(/\s+/g, ' ').trim();
}

function takeFitting(parts: readonly string[], width: number): string[] {
  let used = 0;
  const fitting: string[] = [];
  for (const part of parts) {
    used += measureWidth(part);
    if (used > width) break;
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
