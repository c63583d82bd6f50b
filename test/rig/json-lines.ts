import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Reads the cases of a table test from a file in its folder, one JSON object a line. */
export function jsonLines<T>(folder: string, name: string): T[] {
  const lines = readFileSync(path.join(folder, name), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}
