/** The outcome of a run with some changes reverted; `unresolved` if the build or the start failed, which says nothing about the changes. */
export type SetOutcome = 'green' | 'red' | 'unresolved';

/** Returns the distance between two neighbors. The search first splits where it is highest: between commits, then files, then hunks. */
export type Distance<T> = (item: T, next: T) => number;

export interface SetSearch<T> {
  /** Runs the test with exactly these items reverted; returns null if no more runs are allowed. May be called twice for the same set. */
  readonly test: (out: readonly T[]) => Promise<SetOutcome | null>;
  readonly distance: Distance<T>;
}

export interface MinimalSet<T> {
  /** The reverted items that turn the test green. */
  readonly set: readonly T[];
  /** True if every item is necessary: with any one of them left in, the test stays red. */
  readonly isMinimal: boolean;
}

/** Thrown when no more runs are allowed. */
class NoRunsLeft extends Error {}

/** After this many unresolved outcomes, delta debugging replaces the bisection, because it copes better with them. */
const UNRESOLVED_TOLERATED = 3;

/**
 * Searches for the smallest set whose reversal turns the test green; returns null if not even reverting everything does. Yields each set to test,
 * perhaps twice, and expects its outcome, or null when no more runs are allowed.
 *
 * Starts with a bisection over the items in order that reverts a prefix each time, as `git bisect` does with the newest commits. The last item of the
 * smallest green prefix is necessary. The search keeps it and continues with the items before it, until the necessary items suffice (Junker,
 * QuickXplain, 2004). This takes log₂ n + 1 runs per item of the result, half as many as delta debugging, and shows that each item is necessary. If
 * outcomes are unresolved, delta debugging, which needs no order, reduces the remaining items instead (ddmin, Zeller and Hildebrandt, 2002).
 */
export function* searchMinimalSet<T>(
  items: readonly T[],
  distance: Distance<T>,
): Generator<readonly T[], MinimalSet<T> | null, SetOutcome | null> {
  const tests = new Tests(items);
  try {
    if (!(yield* tests.isGreen(items))) return null;
    const { set, isExact } = yield* bisect(items, distance, tests);
    if (!isExact) yield* deltaDebug(set, tests);
    return { set: tests.best, isMinimal: true };
  } catch (error) {
    if (!(error instanceof NoRunsLeft)) throw error;
    return tests.sawGreen ? { set: tests.best, isMinimal: tests.best.length === 1 } : null;
  }
}

/** Runs the search for the smallest set whose reversal turns the test green. */
export async function findMinimalSet<T>(
  items: readonly T[],
  { test, distance }: SetSearch<T>,
): Promise<MinimalSet<T> | null> {
  const search = searchMinimalSet(items, distance);
  for (let step = search.next(); ; step = search.next(await test(step.value)))
    if (step.done) return step.value;
}

/** A step of the search, which yields the sets to test. */
type Step<T, R> = Generator<readonly T[], R, SetOutcome | null>;

/** Yields sets to test and remembers the smallest green one. */
class Tests<T> {
  best: readonly T[];
  sawGreen = false;

  constructor(all: readonly T[]) {
    this.best = all;
  }

  *outcome(out: readonly T[]): Step<T, SetOutcome> {
    // With nothing reverted, the test is red.
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

/** Requires that the test is green with all `items` reverted. */
function* bisect<T>(
  items: readonly T[],
  distance: Distance<T>,
  tests: Tests<T>,
): Step<T, { set: readonly T[]; isExact: boolean }> {
  let needed: readonly T[] = [];
  let rest = items;
  for (;;) {
    const cut = yield* findSmallestPrefix(rest, { distance, isNearest: needed.length > 0 }, (beginning) =>
      tests.outcome([...needed, ...beginning]),
    );
    const prefix = rest.slice(0, cut.end);
    if (!cut.isExact) return { set: [...needed, ...prefix], isExact: false };
    needed = [...needed, ...prefix.slice(-1)];
    // Items that belong together are close to each other, so the search continues next to the necessary one.
    rest = prefix.slice(0, -1).toReversed();
    if (rest.length === 0 || (yield* tests.isGreen(needed))) return { set: needed, isExact: true };
  }
}

/**
 * Returns the end of the smallest green prefix of `rest`. All of `rest` must be green, and the empty prefix red. Cuts in the middle or, with
 * `isNearest`, first after the nearest group.
 */
function* findSmallestPrefix<T>(
  rest: readonly T[],
  { distance, isNearest }: { readonly distance: Distance<T>; readonly isNearest: boolean },
  outcome: (beginning: readonly T[]) => Step<T, SetOutcome>,
): Step<T, { end: number; isExact: boolean }> {
  let [low, high] = [0, rest.length];
  const silent = new Set<number>();
  let middle = isNearest ? 0 : high / 2;
  while (high - low > 1) {
    const cut = chooseCut(low, high, { rest, distance, silent, middle });
    if (cut === null || silent.size >= UNRESOLVED_TOLERATED) return { end: high, isExact: false };
    const result = yield* outcome(rest.slice(0, cut));
    if (result === 'green') high = cut;
    else if (result === 'red') low = cut;
    else silent.add(cut);
    middle = (low + high) / 2;
  }
  return { end: high, isExact: true };
}

/** Chooses the cut between `low` and `high`: at the highest boundary; among equals, the one nearest to `middle`. */
function chooseCut<T>(
  low: number,
  high: number,
  {
    rest,
    distance,
    silent,
    middle,
  }: { rest: readonly T[]; distance: Distance<T>; silent: ReadonlySet<number>; middle: number },
): number | null {
  let best: { cut: number; level: number } | null = null;
  for (let cut = low + 1; cut < high; cut += 1) {
    if (silent.has(cut)) continue;
    const level = distance(rest[cut - 1] as T, rest[cut] as T);
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
  const getStart = (part: number) => Math.round((part * set.length) / count);
  return Array.from({ length: count }, (_, part) => set.slice(getStart(part), getStart(part + 1)));
}
