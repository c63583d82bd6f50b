/** What the regression run needs to know about a test file of the suite. */
export interface TestFile {
  /** Relative to the project's root, with `/`. */
  readonly file: string;
  readonly ids: readonly string[];
  /** How long its tests took in the first run, in milliseconds. */
  readonly durationMs: number;
}

/** The test files that the regression run includes, and those that it has no time for. */
export interface RegressionTests {
  readonly files: readonly TestFile[];
  readonly leftOut: readonly TestFile[];
}

/** What limits a regression run. */
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
  const telling = tellingWords(files);
  const known = new Map(files.map((file) => [file, nearnessOf(file.file, bounds, telling)]));
  const nearness = (file: TestFile) => known.get(file) ?? 0;
  const near = files.toSorted((a, b) => nearness(b) - nearness(a));
  const budget = bounds.timeMs * Math.max(1, bounds.workers);
  const chosen: TestFile[] = [];
  const leftOut: TestFile[] = [];
  let spent = 0;
  for (const file of near) {
    const isChosen = chosen.length === 0 || spent + file.durationMs <= budget;
    (isChosen ? chosen : leftOut).push(file);
    if (isChosen) spent += file.durationMs;
  }
  return { files: chosen, leftOut };
}

type Words = (file: string) => readonly string[];

function nearnessOf(file: string, { healed, changed }: RegressionBounds, telling: Words): number {
  if (healed.includes(file)) return Number.MAX_SAFE_INTEGER;
  const words = telling(file);
  const shared = (other: string) => telling(other).filter((word) => words.includes(word)).length;
  return Math.max(0, ...[...healed, ...changed].map(shared));
}

/** Returns the words of a path, except those that every test file has in its path: `src/cart/total.ts` is near `tests/cart.spec.ts`. */
function tellingWords(files: readonly TestFile[]): Words {
  const everywhere = wordsOf(files[0]?.file ?? '').filter((word) =>
    files.every(({ file }) => wordsOf(file).includes(word)),
  );
  return (file) => wordsOf(file).filter((word) => !everywhere.includes(word));
}

function wordsOf(file: string): string[] {
  const words = file.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return [...new Set(words.filter((word) => word.length > 2))];
}
