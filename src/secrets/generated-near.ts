import type { Found } from './found.js';
import { kindOfName } from './secret-name.js';
import { isGenerated } from './secret-value.js';
import type { Named } from './notations.js';

/** Characters around a name that are looked at for what nobody wrote. */
const nearby = 200;
/** What is looked at again, for a value that ends further on. */
const overlap = 64;

/**
 * What a generator made, on the line of a name that says secret, or alone on the next one (or as pydantic tells of it): whatever
 * the notation is. `seen` holds how far was looked.
 */
export function generatedNear(
  text: string,
  { start, end, name }: Omit<Named, 'strength' | 'text'>,
  seen: { near: number },
): Found[] {
  const furthest = Math.max(0, start - nearby);
  const lineStart = furthest + text.slice(furthest, start).lastIndexOf('\n') + 1;
  const from = Math.max(seen.near, lineStart);
  const [line = '', next = ''] = text.slice(from, end + nearby).split('\n', 2);
  const near = /^\s*\S+\s*$|input_value=/.test(next) ? `${line}\n${next}` : line;
  seen.near = Math.max(seen.near, from + near.length - overlap);
  return (
    [...near.matchAll(/(?<![\w/.+~%-])[\w+~-]{16,512}={0,2}(?![\w/.+~-])/g)]
      // Of a hash, and of a word in which the name itself stands, nobody says that it is secret.
      .filter(
        ({ 0: word, index }) =>
          isGenerated(word) &&
          !/^sha\d/.test(word) &&
          !(from + index <= start && start < from + index + word.length),
      )
      .map(({ 0: word, index }) => ({
        start: from + index,
        end: from + index + word.length,
        kind: kindOfName(name),
      }))
  );
}
