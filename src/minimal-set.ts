/** The outcome of a run with some changes taken out; `unresolved` if it says nothing because the build or the start failed. */
export type SetOutcome = 'green' | 'red' | 'unresolved';

/** Returns how far apart two neighbors are. The search cuts where this is highest first (between commits, files, hunks). */
export type Apart<T> = (item: T, next: T) => number;

export interface SetSearch<T> {
  /** Runs the test with exactly these items taken out; null if no run is left. May be called twice for the same set. */
  readonly test: (out: readonly T[]) => Promise<SetOutcome | null>;
  readonly apart: Apart<T>;
}

export interface MinimalSet<T> {
  /** The reverted items that turn the test green. */
  readonly set: readonly T[];
  /** Whether leaving in any single item of it keeps the test red. */
  readonly isMinimal: boolean;
}

/** Thrown when the search may not run the tests any more. */
class NoRunsLeft extends Error {}

/** How many unresolved outcomes end the bisection: delta debugging copes with them better. */
const UNRESOLVED_TOLERATED = 3;

/**
 * Searches for the smallest set that turns the test green when taken out; null if not even taking out everything does. Yields each set whose outcome it
 * needs, perhaps twice, and goes on with that outcome, or ends with null, when no run is left.
 *
 * First, a bisection over the items in order, which takes out a prefix each time, as `git bisect` does with the newest commits. The last item of
 * the smallest green prefix is needed; it is kept, and the search continues with the items before it, until the needed items suffice (Junker,
 * QuickXplain, 2004). This takes log₂ n + 1 runs per item of the result, half as many as delta debugging, and shows for each item
 * that the test stays red if it is left in. If outcomes are unresolved, delta debugging, which needs no order, reduces the
 * remaining items instead (ddmin, Zeller and Hildebrandt, 2002).
 */
export function* searchMinimalSet<T>(
  items: readonly T[],
  apart: Apart<T>,
): Generator<readonly T[], MinimalSet<T> | null, SetOutcome | null> {
  const tests = new Tests(items);
  try {
    if (!(yield* tests.isGreen(items))) return null;
    const { set, isExact } = yield* bisect(items, apart, tests);
    if (!isExact) yield* deltaDebug(set, tests);
    return { set: tests.best, isMinimal: true };
  } catch (error) {
    if (!(error instanceof NoRunsLeft)) throw error;
    return tests.sawGreen ? { set: tests.best, isMinimal: tests.best.length === 1 } : null;
  }
}

/** Carries out the search for the smallest set that turns the test green when taken out. */
export async function findMinimalSet<T>(
  items: readonly T[],
  { test, apart }: SetSearch<T>,
): Promise<MinimalSet<T> | null> {
  const search = searchMinimalSet(items, apart);
  for (let step = search.next(); ; step = search.next(await test(step.value)))
    if (step.done) return step.value;
}

/** A step of the search, which needs the outcomes of sets. */
type Step<T, R> = Generator<readonly T[], R, SetOutcome | null>;

/** Asks for outcomes and remembers the smallest green set. */
class Tests<T> {
  best: readonly T[];
  sawGreen = false;

  constructor(all: readonly T[]) {
    this.best = all;
  }

  *outcome(out: readonly T[]): Step<T, SetOutcome> {
    // Nothing taken out is the initial state, which is red.
    if (out.length === 0) return 'red';
    const outcome = yield out;
    if (outcome === null) throw new NoRunsLeft();
    if (outcome === 'green' && (!this.sawGreen || out.length < this.best.length)) this.best = out;
    this.sawGreen ||= outcome === 'green';
    return outcome;
  }

  *isGreen(out: readonly T[]): Step<T, boolean> {
    return (yield* this.outcome(out)) === 'green';
  }
}

/** Requires that taking out all of `items` is green. */
function* bisect<T>(
  items: readonly T[],
  apart: Apart<T>,
  tests: Tests<T>,
): Step<T, { set: readonly T[]; isExact: boolean }> {
  let needed: readonly T[] = [];
  let rest = items;
  for (;;) {
    const cut = yield* findSmallestPrefix(rest, { apart, isNearest: needed.length > 0 }, (beginning) =>
      tests.outcome([...needed, ...beginning]),
    );
    const prefix = rest.slice(0, cut.end);
    if (!cut.isExact) return { set: [...needed, ...prefix], isExact: false };
    needed = [...needed, ...prefix.slice(-1)];
    // Items that belong together are close to each other, so the search goes on from the needed one.
    rest = prefix.slice(0, -1).toReversed();
    if (rest.length === 0 || (yield* tests.isGreen(needed))) return { set: needed, isExact: true };
  }
}

/**
 * Returns the end of the smallest green prefix of `rest`. All of `rest` must be green, and the empty prefix red. It cuts in the middle, or first
 * after the nearest group.
 */
function* findSmallestPrefix<T>(
  rest: readonly T[],
  { apart, isNearest }: { readonly apart: Apart<T>; readonly isNearest: boolean },
  outcome: (beginning: readonly T[]) => Step<T, SetOutcome>,
): Step<T, { end: number; isExact: boolean }> {
  let [low, high] = [0, rest.length];
  const silent = new Set<number>();
  let middle = isNearest ? 0 : high / 2;
  while (high - low > 1) {
    const cut = chooseCut(low, high, { rest, apart, silent, middle });
    if (cut === null || silent.size >= UNRESOLVED_TOLERATED) return { end: high, isExact: false };
    const result = yield* outcome(rest.slice(0, cut));
    if (result === 'green') high = cut;
    else if (result === 'red') low = cut;
    else silent.add(cut);
    middle = (low + high) / 2;
  }
  return { end: high, isExact: true };
}

/** Returns where to cut: at the highest boundary in between, the one nearest to `middle`. */
function chooseCut<T>(
  low: number,
  high: number,
  {
    rest,
    apart,
    silent,
    middle,
  }: { rest: readonly T[]; apart: Apart<T>; silent: ReadonlySet<number>; middle: number },
): number | null {
  let best: { cut: number; level: number } | null = null;
  for (let cut = low + 1; cut < high; cut += 1) {
    if (silent.has(cut)) continue;
    const level = apart(rest[cut - 1] as T, rest[cut] as T);
    const isNearer = best !== null && Math.abs(cut - middle) < Math.abs(best.cut - middle);
    if (best === null || level > best.level || (level === best.level && isNearer)) best = { cut, level };
  }
  return best?.cut ?? null;
}

/** Shrinks the set by dropping one part at a time while the rest stays green, with ever smaller parts (ddmin, by complements). */
function* deltaDebug<T>(start: readonly T[], tests: Tests<T>): Step<T, void> {
  let set = start;
  let count = 2;
  while (set.length > 1) {
    const smaller: readonly T[] | null = yield* findFirstGreen(
      splitInto(set, count).map((part) => set.filter((item) => !part.includes(item))),
      tests,
    );
    if (smaller) {
      set = smaller;
      count = Math.min(Math.max(count - 1, 2), set.length);
    } else if (count >= set.length) return;
    else count = Math.min(2 * count, set.length);
  }
}

function* findFirstGreen<T>(sets: readonly (readonly T[])[], tests: Tests<T>): Step<T, readonly T[] | null> {
  for (const set of sets) if (yield* tests.isGreen(set)) return set;
  return null;
}

function splitInto<T>(set: readonly T[], count: number): (readonly T[])[] {
  const at = (part: number) => Math.round((part * set.length) / count);
  return Array.from({ length: count }, (_, part) => set.slice(at(part), at(part + 1)));
}
