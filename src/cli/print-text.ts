import { wrapLines } from '../outputs/truncate.js';
import { logText } from '../visible-text.js';
import { print } from './end-command.js';

/** Prints text for a person, wrapped to fit a terminal, unwrapped into a pipe. Returns the exit code. */
export function printText(text: string): number {
  return print(wrapLines(logText(text), process.stdout.columns));
}
