import type { Location, TestError } from '../core/failure.js';

/** The positions that errors name, of files on the disk, innermost first. */
export function framesOf(errors: readonly TestError[]): Location[] {
  return errors.flatMap(({ location, stack }) => [...(location ? [location] : []), ...framesIn(stack ?? '')]);
}

/** The positions in a stack, or in the output of a compiler that writes `file:line:column`. */
function framesIn(text: string): Location[] {
  return Array.from(
    text.matchAll(/(?:file:\/\/)?((?:\/|[A-Z]:\\)[^\n():]+):(\d+):(\d+)/g),
    ([, file = '', line, column]) => ({ file, line: Number(line), column: Number(column) }),
  );
}
