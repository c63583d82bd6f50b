import { laidOut } from '../outputs/cut.js';
import { logText } from '../visible-text.js';
import { print } from './end.js';

/** Prints what a command has to say to a person: a terminal gets lines that fit, a pipe whole ones. Returns the exit code. */
export function tell(text: string): number {
  return print(laidOut(logText(text), process.stdout.columns));
}
