import { testName } from '../../model/failure.js';
import { mostlyThere, type Suspect } from './run-history.js';
import { alone, type Condition, type FlakeSearch, type ListedTest, newTrial, type Trial } from './trials.js';

/** Where a machine may be that is not here: the farthest ahead of and behind the universal time. */
export const zones = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'].map((TZ): Omit<Trial, 'count'> => {
  return { kind: 'time', under: { ...alone, env: { TZ } }, words: () => `with TZ=${TZ}` };
});

/** What may make a test red that is green by itself: what ran before it or beside it when it was red, or another time zone. */
export function trialsFor(search: FlakeSearch, suspect: Suspect): readonly Trial[] {
  const { target, history } = suspect;
  const { file } = target.test.location;
  const earlier = search.listed
    .slice(0, search.listed.indexOf(target))
    .filter(({ test }) => test.project === target.test.project);
  const after = (others: readonly ListedTest[]) => ({
    kind: 'order' as const,
    under: { others, workers: 1 },
    words: (some: readonly ListedTest[]) => `after ${namesOf(some)}`,
  });
  const isOfFile = ({ test }: ListedTest) => test.location.file === file;
  const there = mostlyThere(search, suspect, 'before');
  const orders = [earlier.filter(isOfFile), earlier.filter((test) => there.includes(test)), earlier]
    .filter(({ length }, at, all) => length > 0 && all.findIndex((other) => other.length === length) === at)
    .map(after);
  const wasRed = history.reds.has(target.key);
  const concurrent = wasRed && history.workers > 1 ? besides(search, suspect) : [];
  // One that was red in the whole suite was so in this zone.
  const times = wasRed ? [] : zones;
  // Those that run after one another first: among others that run beside it, some run before it in its worker.
  const [near, far] = [orders.slice(0, -1), orders.slice(-1)];
  return [...near, ...concurrent, ...times, ...far].map(newTrial);
}

/** Any others will do (load), or those that mostly were there may share something with the test (data). */
function besides(search: FlakeSearch, suspect: Suspect): Omit<Trial, 'count'>[] {
  const { target, history } = suspect;
  const fileOf = ({ test }: ListedTest) => test.location.file;
  const near = mostlyThere(search, suspect, 'beside').filter((test) => fileOf(test) !== fileOf(target));
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
  const dataTrial = (some: readonly ListedTest[]) => ({
    kind: 'data' as const,
    under: besideThem(some, history.workers),
    words: (others: readonly ListedTest[]) => `beside ${namesOf(others)}`,
  });
  // Two that start together are beside each other more surely than among all that were there.
  const pairs = near.slice(0, MOST_PAIRS).map((test) => dataTrial([test]));
  return [load, ...pairs, ...(near.length > 1 ? [dataTrial(near)] : [])];
}

/** How many tests that were beside it when it was red are tried with a test alone. */
const MOST_PAIRS = 4;

/** With a worker to spare, a test would run beside a copy of itself. */
export function besideThem(others: readonly ListedTest[], most: number | null): Condition {
  const files = new Set(others.map(({ test }) => test.location.file));
  return { others, workers: Math.min(most ?? 2, files.size + 1) };
}

export function namesOf(tests: readonly ListedTest[]): string {
  return tests.map(({ test }) => testName(test.titlePath)).join(' and ');
}
