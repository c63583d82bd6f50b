/** Something that is found by words, lower case. A letter beyond ASCII stands for any such: the words come before a pattern. */
interface Worded {
  readonly words: readonly string[];
}

/** The column that all units beyond ASCII share. */
const beyondAscii = 1;
/** More states than a `Uint16Array` can name take twice the memory, which costs more time than anything else here. */
const mostNarrowStates = 65_535;

interface Automaton {
  /** The column of each UTF-16 unit below 128; 0 for what no word contains. Cases share one, as do all units beyond. */
  readonly columnOf: Uint8Array;
  readonly columns: number;
  /** The next state for a state and a column, row by row. */
  readonly next: Uint16Array | Int32Array;
  /** The items that a state completes a word of. */
  readonly found: readonly (readonly number[])[];
}

/**
 * Makes a search for all items of which at least one word occurs in a text, whatever its case, in the items' order. However
 * many words there are, it reads the text once (Aho and Corasick, 1975): a thousand `includes` took most of the time.
 */
export function createWordIndex<T extends Worded>(items: readonly T[]): (text: string) => T[] {
  const { columnOf, columns, next, found } = automatonOf(items);
  const completes = Uint8Array.from(found, (here) => (here.length > 0 ? 1 : 0));
  return (text) => {
    const hits = new Set<number>();
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      state = next[state * columns + (unit < 128 ? (columnOf[unit] ?? 0) : beyondAscii)] ?? 0;
      if (completes[state] === 1) for (const item of found[state] ?? []) hits.add(item);
    }
    return [...hits].sort((a, b) => a - b).flatMap((item) => items[item] ?? []);
  };
}

function automatonOf(items: readonly Worded[]): Automaton {
  const { columnOf, columns } = alphabetOf(items);
  const states = 1 + items.reduce((sum, { words }) => sum + words.join('').length, 0);
  const cells = states * columns;
  const next = states <= mostNarrowStates ? new Uint16Array(cells) : new Int32Array(cells);
  const found: number[][] = [[]];
  for (const [item, { words }] of items.entries()) {
    for (const word of words) {
      let state = 0;
      for (const letter of word.split(''))
        state = child(state * columns + (columnOf[letter.charCodeAt(0)] ?? beyondAscii));
      found[state]?.push(item);
    }
  }
  linkFailures({ columnOf, columns, next, found });
  return { columnOf, columns, next, found };

  function child(cell: number): number {
    if (next[cell] === 0) next[cell] = found.push([]) - 1;
    return next[cell] ?? 0;
  }
}

function alphabetOf(items: readonly Worded[]): Pick<Automaton, 'columnOf' | 'columns'> {
  const used = new Set(items.flatMap(({ words }) => words.join('').split('')));
  const letters = [...used].filter((letter) => letter.charCodeAt(0) < 128);
  const columnOf = new Uint8Array(128);
  for (const [index, letter] of letters.entries()) {
    columnOf[letter.charCodeAt(0)] = beyondAscii + index + 1;
    columnOf[letter.toUpperCase().charCodeAt(0)] = beyondAscii + index + 1;
  }
  return { columnOf, columns: beyondAscii + letters.length + 1 };
}

/** Fills each gap of the trie with where the longest suffix that is itself a beginning of a word goes on, breadth first. */
function linkFailures({ columns, next, found }: Automaton & { readonly found: number[][] }): void {
  const failure = new Int32Array(found.length);
  const queue: number[] = [];
  for (let column = 0; column < columns; column++) if (next[column]) queue.push(next[column] ?? 0);
  for (const state of queue) {
    const fallback = failure[state] ?? 0;
    found[state]?.push(...(found[fallback] ?? []));
    for (let column = 0; column < columns; column++) {
      const cell = state * columns + column;
      const onward = next[fallback * columns + column] ?? 0;
      const follower = next[cell] ?? 0;
      if (follower === 0) next[cell] = onward;
      else {
        failure[follower] = onward;
        queue.push(follower);
      }
    }
  }
}
