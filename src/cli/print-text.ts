import { wrapLines } from '../outputs/cut.js';
import { logText } from '../visible-text.js';
import { print } from './end.js';

/** Prints the text of a command for a person: a terminal gets lines that fit, a pipe whole lines. Returns the exit code. */
export function printText(text: string): number {
  return print(wrapLines(logText(text), process.stdout.columns));
}
