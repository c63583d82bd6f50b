import { jsonOf } from '../json-of.js';

/** What our own scripts wrote as `mark: {json}` among whatever else stands in the output. */
export function markedLines(output: string, mark: string): unknown[] {
  return output.split(/\r?\n/).flatMap((line) => {
    const value = line.startsWith(`${mark}: `) ? jsonOf(line.slice(mark.length + 2)) : undefined;
    return value === undefined ? [] : [value];
  });
}
