import { visibleText } from './visible-text.js';

/**
 * Shortens a text to at most `max` characters: its beginning and end, and between them how many characters were left out, and which file has them
 * all.
 */
export function cutMiddle(text: string, max: number, file?: string): string {
  if (text.length <= max) return text;
  // Without room for the sentence in between, only the beginning is left.
  if (max < 80) return text.slice(0, Math.max(0, max));
  const half = Math.floor((max - 40 - (file?.length ?? 0)) / 2);
  const where = file === undefined ? '' : `, in ${file}`;
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters${where} …]\n${text.slice(-half)}`;
}

/** How a block shows its text. */
export interface BlockOptions {
  /** The language of the block; `text` by default. */
  readonly language?: string | undefined;
  /** The most characters of the text that are shown. */
  readonly longest?: number | undefined;
  /** The file that has all of a text that is cut. */
  readonly file?: string | undefined;
}

/**
 * Puts untrusted text into a fenced block that nothing inside can close (EV-10). Only this order is safe: the text is cleaned, then cut, then
 * fenced, with a fence that is longer than any run of backticks. Nothing may be cleaned afterwards, because removing characters can join backticks.
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

/** Formats a name or a title, which may contain anything, as a code span of one line that nothing inside can close (EV-10). */
export function inline(text: string): string {
  return `\`${removeSignals(visibleText(text))
    .replaceAll(/[\s`]+/g, ' ')
    .slice(0, 300)}\``;
}

/** Returns a fence that is longer than any run of backticks in a text, so that nothing in the text can close it. */
export function createFence(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  return '`'.repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
}

/** Breaks up anything that would be read as an agent's completion signal (AG-3) if an agent printed this text. */
export function removeSignals(text: string): string {
  return text
    .replaceAll(/SELF-HEAL:/g, 'SELF-HEAL :')
    .replaceAll(/Fix applied successfully/gi, 'Fix applied …');
}
