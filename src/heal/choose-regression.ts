/** A test file of the suite, as the regression run needs it. */
export interface TestFile {
  /** Relative to the project's root, with `/`. */
  readonly file: string;
  readonly ids: readonly string[];
  /** How long its tests took in the first run, in milliseconds. */
  readonly durationMs: number;
}

/** The test files that the regression run includes, and those for which there is no time. */
export interface RegressionTests {
  readonly files: readonly TestFile[];
  readonly leftOut: readonly TestFile[];
}

/** The changes that a regression run is for, and its limits. */
export interface RegressionBounds {
  /** Files whose tests were healed; tests close to these are close to the change. */
  readonly healed: readonly string[];
  /** Paths of the changed files, relative to the project's root. */
  readonly changed: readonly string[];
  readonly timeMs: number;
  /** The average number of tests that ran in parallel in the first run. */
  readonly workers: number;
}

/**
 * Chooses the test files that run again after healing (HN-6): those nearest to the change first, as many as fit in the time, but at
 * least one. Files are never split, since tests of a file may depend on each other.
 */
export function chooseRegression(files: readonly TestFile[], bounds: RegressionBounds): RegressionTests {
  const distinctiveWords = createWordLookup(files);
  const scores = new Map(files.map((file) => [file, scoreNearness(file.file, bounds, distinctiveWords)]));
  const getNearness = (file: TestFile) => scores.get(file) ?? 0;
  const nearestFirst = files.toSorted((a, b) => getNearness(b) - getNearness(a));
  const budgetMs = bounds.timeMs * Math.max(1, bounds.workers);
  const chosen: TestFile[] = [];
  const leftOut: TestFile[] = [];
  let usedMs = 0;
  for (const file of nearestFirst) {
    const isChosen = chosen.length === 0 || usedMs + file.durationMs <= budgetMs;
    (isChosen ? chosen : leftOut).push(file);
    if (isChosen) usedMs += file.durationMs;
  }
  return { files: chosen, leftOut };
}

type Words = (file: string) => readonly string[];

function scoreNearness(file: string, { healed, changed }: RegressionBounds, listWords: Words): number {
  if (healed.includes(file)) return Number.MAX_SAFE_INTEGER;
  const words = listWords(file);
  const countShared = (other: string) => listWords(other).filter((word) => words.includes(word)).length;
  return Math.max(0, ...[...healed, ...changed].map(countShared));
}

/** Returns a function that splits a path into words, without those in the path of every test file: `src/cart/total.ts` is near `tests/cart.spec.ts`. */
function createWordLookup(files: readonly TestFile[]): Words {
  const commonWords = splitPath(files[0]?.file ?? '').filter((word) =>
    files.every(({ file }) => splitPath(file).includes(word)),
  );
  return (file) => splitPath(file).filter((word) => !commonWords.includes(word));
}

function splitPath(file: string): string[] {
  const words = file.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return [...new Set(words.filter((word) => word.length > 2))];
}
