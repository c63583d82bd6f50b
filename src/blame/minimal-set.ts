/** What a run with a part of the changes taken out showed; `unresolved` where it says nothing: it did not build or start. */
export type Outcome = 'green' | 'red' | 'unresolved';

/** How a search goes. */
export interface Search<T> {
  /** Runs the test with exactly these taken out; null where no run is left. It may be asked twice for the same set. */
  readonly test: (out: readonly T[]) => Promise<Outcome | null>;
  /** How far two neighbours are apart: the search cuts first where this is highest (between commits, files, hunks). */
  readonly apart: (one: T, next: T) => number;
  /** Whether two look as if they belonged together: those are tried first beside one that is needed. */
  readonly akin?: (one: T, other: T) => boolean;
}

/** What a search came to. */
export interface Found<T> {
  /** Taking it out is green. */
  readonly set: readonly T[];
  /** Taking out less is not, one by one. */
  readonly isMinimal: boolean;
}

/** No run is left. */
class Spent extends Error {}

/** More states in a row that say nothing end the bisection: delta debugging copes better with them. */
const UNRESOLVED_TOLERATED = 3;

/**
 * The smallest set found whose taking out turns the test green; null where not even taking out all of it does.
 *
 * Two stages. A bisection over the items in their order, which leaves out a beginning of it each time, as `git bisect` does with the newest
 * commits: the item that ends the smallest such beginning is needed; it is kept, and the search goes on with what stands before it, until what
 * is needed will do (Junker, QuickXplain, 2004). That takes log₂ n + 1 runs for each item of the result, where delta debugging takes twice as
 * many, and each item was red without it. Where states say nothing, what is left is reduced by delta debugging instead (ddmin, Zeller and
 * Hildebrandt, 2002), which needs no order.
 */
export async function minimalSet<T>(items: readonly T[], search: Search<T>): Promise<Found<T> | null> {
  const tests = new Tests(items, search.test);
  try {
    if (!(await tests.isGreen(items))) return null;
    const { set, isExact } = await bisect(items, search, tests);
    if (!isExact) await deltaDebug(set, tests);
    return { set: tests.best, isMinimal: true };
  } catch (error) {
    if (!(error instanceof Spent)) throw error;
    return tests.sawGreen ? { set: tests.best, isMinimal: tests.best.length === 1 } : null;
  }
}

/** Remembers the smallest set that was green. */
class Tests<T> {
  best: readonly T[];
  sawGreen = false;
  readonly #test: Search<T>['test'];

  constructor(all: readonly T[], test: Search<T>['test']) {
    this.best = all;
    this.#test = test;
  }

  async outcome(out: readonly T[]): Promise<Outcome> {
    // Nothing taken out is the red that it began with.
    if (out.length === 0) return 'red';
    const outcome = await this.#test(out);
    if (outcome === null) throw new Spent();
    if (outcome === 'green' && (!this.sawGreen || out.length < this.best.length)) this.best = out;
    this.sawGreen ||= outcome === 'green';
    return outcome;
  }

  async isGreen(out: readonly T[]): Promise<boolean> {
    return (await this.outcome(out)) === 'green';
  }
}

/** All of `items` is known to be green. */
async function bisect<T>(
  items: readonly T[],
  { apart, akin = () => false }: Search<T>,
  tests: Tests<T>,
): Promise<{ set: readonly T[]; isExact: boolean }> {
  let needed: readonly T[] = [];
  let rest = items;
  for (;;) {
    const cut = await smallestBeginning(rest, apart, (beginning) => tests.outcome([...needed, ...beginning]));
    const found = rest.slice(0, cut.end);
    if (!cut.isExact) return { set: [...needed, ...found], isExact: false };
    needed = [...needed, ...found.slice(-1)];
    rest = found.slice(0, -1);
    if (rest.length === 0 || (await tests.isGreen(needed))) return { set: needed, isExact: true };
    // What belongs together names the same things, or came in the same commit.
    const alike = rest.filter((one) => needed.some((other) => akin(one, other)));
    rest = await firstThatDo([alike, nearEnd(found, apart).slice(0, -1)], { rest, needed, tests });
  }
}

/** The first of these parts of `rest` that will do with what is needed; all of it where none does. */
async function firstThatDo<T>(
  parts: readonly (readonly T[])[],
  { rest, needed, tests }: { rest: readonly T[]; needed: readonly T[]; tests: Tests<T> },
): Promise<readonly T[]> {
  for (const part of parts) {
    if (part.length === 0 || part.length === rest.length) continue;
    if (await tests.isGreen([...part, ...needed])) return part;
  }
  return rest;
}

/** The last items, up to the highest boundary among all. */
function nearEnd<T>(items: readonly T[], apart: Search<T>['apart']): readonly T[] {
  const levels = items.slice(1).map((item, at) => apart(items[at] as T, item));
  return items.slice(levels.lastIndexOf(Math.max(...levels)) + 1);
}

/** The end of the smallest beginning of `rest` that is green, where all of it is, and nothing of it is not. */
async function smallestBeginning<T>(
  rest: readonly T[],
  apart: Search<T>['apart'],
  outcome: (beginning: readonly T[]) => Promise<Outcome>,
): Promise<{ end: number; isExact: boolean }> {
  let [low, high] = [0, rest.length];
  const silent = new Set<number>();
  while (high - low > 1) {
    const cut = cutBetween(low, high, { rest, apart, silent });
    if (cut === null || silent.size >= UNRESOLVED_TOLERATED) return { end: high, isExact: false };
    const seen = await outcome(rest.slice(0, cut));
    if (seen === 'green') high = cut;
    else if (seen === 'red') low = cut;
    else silent.add(cut);
  }
  return { end: high, isExact: true };
}

/** Where to cut: at the highest boundary inside, the nearest to the middle. */
function cutBetween<T>(
  low: number,
  high: number,
  { rest, apart, silent }: { rest: readonly T[]; apart: Search<T>['apart']; silent: ReadonlySet<number> },
): number | null {
  const middle = (low + high) / 2;
  let best: { cut: number; level: number } | null = null;
  for (let cut = low + 1; cut < high; cut += 1) {
    if (silent.has(cut)) continue;
    const level = apart(rest[cut - 1] as T, rest[cut] as T);
    const isNearer = best !== null && Math.abs(cut - middle) < Math.abs(best.cut - middle);
    if (best === null || level > best.level || (level === best.level && isNearer)) best = { cut, level };
  }
  return best?.cut ?? null;
}

/** Leaves out one part after another, the parts ever smaller, until none can be left out (ddmin, by its complements). */
async function deltaDebug<T>(start: readonly T[], tests: Tests<T>): Promise<void> {
  let set = start;
  let count = 2;
  while (set.length > 1) {
    const smaller = await firstGreen(
      splitInto(set, count).map((part) => set.filter((one) => !part.includes(one))),
      tests,
    );
    if (smaller) {
      set = smaller;
      count = Math.min(Math.max(count - 1, 2), set.length);
    } else if (count >= set.length) return;
    else count = Math.min(2 * count, set.length);
  }
}

async function firstGreen<T>(sets: readonly (readonly T[])[], tests: Tests<T>): Promise<readonly T[] | null> {
  for (const set of sets) if (await tests.isGreen(set)) return set;
  return null;
}

function splitInto<T>(set: readonly T[], count: number): (readonly T[])[] {
  const at = (part: number) => Math.round((part * set.length) / count);
  return Array.from({ length: count }, (_, part) => set.slice(at(part), at(part + 1)));
}
