import { jsonOf } from '../json-of.js';

/** Returns the values that our own scripts printed as `mark: {json}`, among any other output. */
export function markedLines(output: string, mark: string): unknown[] {
  return output.split(/\r?\n/).flatMap((line) => {
    const value = line.startsWith(`${mark}: `) ? jsonOf(line.slice(mark.length + 2)) : undefined;
    return value === undefined ? [] : [value];
  });
}
