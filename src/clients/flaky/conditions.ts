import { formatTitles } from '../../model/failure.js';
import { listMostlyPresent, type Suspect } from './run-history.js';
import {
  alone,
  type Condition,
  type FlakeSearch,
  type RepeatedTest,
  createTrial,
  type FlakeTrial,
} from './trials.js';

/** The time zones farthest ahead of and behind UTC, as other machines may have. */
export const zones = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'].map((TZ): Omit<FlakeTrial, 'count'> => {
  return { kind: 'time', under: { ...alone, env: { TZ } }, describe: () => `with TZ=${TZ}` };
});

/** Lists conditions that may turn a test red that is green alone: the tests before it or in parallel with it when it was red, or another time zone. */
export function listTrials(search: FlakeSearch, suspect: Suspect): readonly FlakeTrial[] {
  const { target, history } = suspect;
  const { file } = target.test.location;
  const earlier = search.listed
    .slice(0, search.listed.indexOf(target))
    .filter(({ test }) => test.project === target.test.project);
  const after = (others: readonly RepeatedTest[]) => ({
    kind: 'order' as const,
    under: { others, workers: 1 },
    describe: (some: readonly RepeatedTest[]) => `after ${formatTestNames(some)}`,
  });
  const isInSameFile = ({ test }: RepeatedTest) => test.location.file === file;
  const there = listMostlyPresent(search, suspect, 'before');
  const orders = [earlier.filter(isInSameFile), earlier.filter((test) => there.includes(test)), earlier]
    .filter(({ length }, at, all) => length > 0 && all.findIndex((other) => other.length === length) === at)
    .map(after);
  const wasRed = history.reds.has(target.key);
  const concurrent = wasRed && history.workers > 1 ? listConcurrentTrials(search, suspect) : [];
  // A test that was red in the whole suite does not need another time zone to be red.
  const times = wasRed ? [] : zones;
  // Sequential runs come first, because some of the parallel tests also run before it in its worker.
  const [near, far] = [orders.slice(0, -1), orders.slice(-1)];
  return [...near, ...concurrent, ...times, ...far].map(createTrial);
}

/** Lists the trials with parallel tests: any tests to add load, and the tests that usually ran in parallel, which may share data with it. */
function listConcurrentTrials(search: FlakeSearch, suspect: Suspect): Omit<FlakeTrial, 'count'>[] {
  const { target, history } = suspect;
  const fileOf = ({ test }: RepeatedTest) => test.location.file;
  const near = listMostlyPresent(search, suspect, 'concurrent').filter(
    (test) => fileOf(test) !== fileOf(target),
  );
  const files = new Set([target, ...near].map(fileOf));
  const others = [...new Map(search.listed.map((test) => [fileOf(test), test])).values()]
    .filter((test) => !files.has(fileOf(test)))
    .slice(0, history.workers);
  const whom = others.length === 0 ? 'copies of itself' : 'others';
  const load = {
    kind: 'load' as const,
    under: { others, workers: history.workers },
    describe: () => `in parallel with ${whom} in ${history.workers} workers`,
  };
  const dataTrial = (some: readonly RepeatedTest[]) => ({
    kind: 'data' as const,
    under: createConcurrentCondition(some, history.workers),
    describe: (others: readonly RepeatedTest[]) => `in parallel with ${formatTestNames(others)}`,
  });
  // Two tests that start together are more certain to overlap than two among many.
  const pairs = near.slice(0, MOST_PAIRS).map((test) => dataTrial([test]));
  return [load, ...pairs, ...(near.length > 1 ? [dataTrial(near)] : [])];
}

/** How many of the tests that ran in parallel with a red test are tried in pairs with it. */
const MOST_PAIRS = 4;

/** Limits the workers, because a spare worker would run a copy of the test. */
export function createConcurrentCondition(others: readonly RepeatedTest[], most: number | null): Condition {
  const files = new Set(others.map(({ test }) => test.location.file));
  return { others, workers: Math.min(most ?? 2, files.size + 1) };
}

export function formatTestNames(tests: readonly RepeatedTest[]): string {
  return tests.map(({ test }) => formatTitles(test.titlePath)).join(' and ');
}
