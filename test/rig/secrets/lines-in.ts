import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Returns the lines of a file of texts, in which `⏎` stands for a line break, `␛` for the escape character, `◌` for a space without width. */
export function linesIn(file: string): string[] {
  return readFileSync(path.join(import.meta.dirname, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.replaceAll('⏎', '\n').replaceAll('␛', '\u001b').replaceAll('◌', '\u200b'));
}
