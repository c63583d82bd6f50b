import { formatTitles } from '../../model/failure.js';
import { listTestsInMostRedRuns, type Suspect } from './run-history.js';
import {
  aloneCondition,
  type Condition,
  type FlakeSearch,
  type RepeatedTest,
  createTrial,
  type FlakeTrial,
} from './trials.js';

/** Trials in the time zones farthest ahead of and behind UTC, because other machines may use any. */
export const timeZoneTrials = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'].map(
  (TZ): Omit<FlakeTrial, 'count'> => {
    return { kind: 'time', condition: { ...aloneCondition, env: { TZ } }, describe: () => `with TZ=${TZ}` };
  },
);

/** Lists conditions that may turn a test red that is green alone: tests before it, tests in parallel with it, or another time zone. */
export function listTrials(search: FlakeSearch, suspect: Suspect): readonly FlakeTrial[] {
  const { target, history } = suspect;
  const { file } = target.test.location;
  const earlier = search.allTests
    .slice(0, search.allTests.indexOf(target))
    .filter(({ test }) => test.project === target.test.project);
  const createOrderTrial = (others: readonly RepeatedTest[]) => ({
    kind: 'order' as const,
    condition: { others, workers: 1 },
    describe: (some: readonly RepeatedTest[]) => `after ${formatTestNames(some)}`,
  });
  const isInSameFile = ({ test }: RepeatedTest) => test.location.file === file;
  const before = listTestsInMostRedRuns(search, suspect, 'before');
  const orderTrials = [earlier.filter(isInSameFile), earlier.filter((test) => before.includes(test)), earlier]
    .filter(({ length }, at, all) => length > 0 && all.findIndex((other) => other.length === length) === at)
    .map(createOrderTrial);
  const wasRed = history.reds.has(target.key);
  const concurrentTrials = wasRed && history.workers > 1 ? listConcurrentTrials(search, suspect) : [];
  // A test that was red in the whole suite does not need another time zone to be red.
  const zoneTrials = wasRed ? [] : timeZoneTrials;
  // Short orders come first, because in a parallel trial some tests may also run before the examined test in its worker.
  const [shortOrders, longestOrder] = [orderTrials.slice(0, -1), orderTrials.slice(-1)];
  return [...shortOrders, ...concurrentTrials, ...zoneTrials, ...longestOrder].map(createTrial);
}

/**
 * Lists the trials with parallel tests: some with any tests, to create load, and some with the tests that ran during most of the
 * suspect's red runs and may share its data.
 */
function listConcurrentTrials(search: FlakeSearch, suspect: Suspect): Omit<FlakeTrial, 'count'>[] {
  const { target, history } = suspect;
  const getFile = ({ test }: RepeatedTest) => test.location.file;
  const near = listTestsInMostRedRuns(search, suspect, 'concurrent').filter(
    (test) => getFile(test) !== getFile(target),
  );
  const files = new Set([target, ...near].map(getFile));
  const others = [...new Map(search.allTests.map((test) => [getFile(test), test])).values()]
    .filter((test) => !files.has(getFile(test)))
    .slice(0, history.workers);
  const companions = others.length === 0 ? 'copies of itself' : 'others';
  const load = {
    kind: 'load' as const,
    condition: { others, workers: history.workers },
    describe: () => `in parallel with ${companions} in ${history.workers} workers`,
  };
  const createDataTrial = (some: readonly RepeatedTest[]) => ({
    kind: 'data' as const,
    condition: createConcurrentCondition(some, history.workers),
    describe: (others: readonly RepeatedTest[]) => `in parallel with ${formatTestNames(others)}`,
  });
  // Two tests that start together are more certain to overlap than two among many.
  const pairs = near.slice(0, MAX_PAIRS).map((test) => createDataTrial([test]));
  return [load, ...pairs, ...(near.length > 1 ? [createDataTrial(near)] : [])];
}

/** The maximum number of parallel tests to pair with a test. */
const MAX_PAIRS = 4;

/** Creates a condition with parallel tests. Limits the workers, because a spare worker would run a copy of the test. */
export function createConcurrentCondition(
  others: readonly RepeatedTest[],
  maxWorkers: number | null,
): Condition {
  const files = new Set(others.map(({ test }) => test.location.file));
  return { others, workers: Math.min(maxWorkers ?? 2, files.size + 1) };
}

export function formatTestNames(tests: readonly RepeatedTest[]): string {
  return tests.map(({ test }) => formatTitles(test.titlePath)).join(' and ');
}
