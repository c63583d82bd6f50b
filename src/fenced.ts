import { visibleText } from './visible-text.js';

/** Shortens a text to at most `max` characters by replacing its middle with a note: how many characters are missing, and which file has them all. */
export function cutMiddle(text: string, max: number, file?: string): string {
  if (text.length <= max) return text;
  // Without room for the note, keeps only the beginning.
  if (max < 80) return text.slice(0, Math.max(0, max));
  const half = Math.floor((max - 40 - (file?.length ?? 0)) / 2);
  const where = file === undefined ? '' : `, in ${file}`;
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters${where} …]\n${text.slice(-half)}`;
}

/** Options of a fenced block. */
export interface BlockOptions {
  /** The language of the block; `text` by default. */
  readonly language?: string | undefined;
  /** The maximum number of characters of the text to show. */
  readonly longest?: number | undefined;
  /** The file that has the whole text, if it is cut. */
  readonly file?: string | undefined;
}

/**
 * Puts untrusted text into a fenced block that nothing inside can close (EV-10). Only this order is safe: clean the text, cut it, then fence it with
 * more backticks than it has in a row. Cleaning afterwards could remove characters between backticks and so join them.
 */
export function fenced(
  text: string,
  { language = 'text', longest = Infinity, file }: BlockOptions = {},
): string {
  const clean = removeSignals(visibleText(text))
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
  const shown = cutMiddle(clean, longest, file);
  const fence = createFence(shown);
  return `${fence}${language}\n${shown}\n${fence}`;
}

/** Formats an untrusted name or title as a one-line code span that nothing inside can close (EV-10). */
export function inline(text: string): string {
  return `\`${removeSignals(visibleText(text))
    .replaceAll(/[\s`]+/g, ' ')
    .slice(0, 300)}\``;
}

/** Returns a fence with more backticks than the text has in a row, so that nothing in the text can close it. */
export function createFence(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  return '`'.repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
}

/** Breaks up completion signals (AG-3), so that an agent that prints this text does not seem to have finished. */
export function removeSignals(text: string): string {
  return text
    .replaceAll(/SELF-HEAL:/g, 'SELF-HEAL :')
    .replaceAll(/Fix applied successfully/gi, 'Fix applied …');
}
