import { formatTitles } from '../../model/failure.js';
import { mostlyPresent, type Suspect } from './run-history.js';
import {
  alone,
  type Condition,
  type FlakeSearch,
  type RepeatedTest,
  newTrial,
  type FlakeTrial,
} from './trials.js';

/** The time zones that are farthest ahead of and behind UTC, in which other machines may be. */
export const zones = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'].map((TZ): Omit<FlakeTrial, 'count'> => {
  return { kind: 'time', under: { ...alone, env: { TZ } }, words: () => `with TZ=${TZ}` };
});

/** Returns what may make a test red that is green by itself: the tests that ran before it or beside it when it was red, or another time zone. */
export function trialsFor(search: FlakeSearch, suspect: Suspect): readonly FlakeTrial[] {
  const { target, history } = suspect;
  const { file } = target.test.location;
  const earlier = search.listed
    .slice(0, search.listed.indexOf(target))
    .filter(({ test }) => test.project === target.test.project);
  const after = (others: readonly RepeatedTest[]) => ({
    kind: 'order' as const,
    under: { others, workers: 1 },
    words: (some: readonly RepeatedTest[]) => `after ${testNames(some)}`,
  });
  const isOfFile = ({ test }: RepeatedTest) => test.location.file === file;
  const there = mostlyPresent(search, suspect, 'before');
  const orders = [earlier.filter(isOfFile), earlier.filter((test) => there.includes(test)), earlier]
    .filter(({ length }, at, all) => length > 0 && all.findIndex((other) => other.length === length) === at)
    .map(after);
  const wasRed = history.reds.has(target.key);
  const concurrent = wasRed && history.workers > 1 ? concurrentTrials(search, suspect) : [];
  // A test that was red in the whole suite was red in this time zone.
  const times = wasRed ? [] : zones;
  // Sequential runs come first: among the tests beside it, some also run before it in its worker.
  const [near, far] = [orders.slice(0, -1), orders.slice(-1)];
  return [...near, ...concurrent, ...times, ...far].map(newTrial);
}

/** Any other tests may add load; the tests that mostly ran beside this one may share data with it. */
function concurrentTrials(search: FlakeSearch, suspect: Suspect): Omit<FlakeTrial, 'count'>[] {
  const { target, history } = suspect;
  const fileOf = ({ test }: RepeatedTest) => test.location.file;
  const near = mostlyPresent(search, suspect, 'concurrent').filter((test) => fileOf(test) !== fileOf(target));
  const files = new Set([target, ...near].map(fileOf));
  const others = [...new Map(search.listed.map((test) => [fileOf(test), test])).values()]
    .filter((test) => !files.has(fileOf(test)))
    .slice(0, history.workers);
  const whom = others.length === 0 ? 'copies of itself' : 'others';
  const load = {
    kind: 'load' as const,
    under: { others, workers: history.workers },
    words: () => `beside ${whom} in ${history.workers} workers`,
  };
  const dataTrial = (some: readonly RepeatedTest[]) => ({
    kind: 'data' as const,
    under: concurrently(some, history.workers),
    words: (others: readonly RepeatedTest[]) => `beside ${testNames(others)}`,
  });
  // Two tests that start together overlap more surely than two among many.
  const pairs = near.slice(0, MOST_PAIRS).map((test) => dataTrial([test]));
  return [load, ...pairs, ...(near.length > 1 ? [dataTrial(near)] : [])];
}

/** How many of the tests that ran beside a red test are tried with it in pairs. */
const MOST_PAIRS = 4;

/** Limits the workers, since a spare worker would run a copy of the test. */
export function concurrently(others: readonly RepeatedTest[], most: number | null): Condition {
  const files = new Set(others.map(({ test }) => test.location.file));
  return { others, workers: Math.min(most ?? 2, files.size + 1) };
}

export function testNames(tests: readonly RepeatedTest[]): string {
  return tests.map(({ test }) => formatTitles(test.titlePath)).join(' and ');
}
