import type { Count } from '../../model/failure-rate.js';
import type { TestResult } from '../../playwright/suite-run.js';
import {
  countIn,
  type FlakeSearch,
  isOver,
  keyOf,
  type ListedTest,
  MOST_REPEATS,
  none,
  plus,
} from './trials.js';

/** What runs of the suite have shown. */
export interface Seen {
  readonly counts: Map<string, Count>;
  /** Of each red run of a test: which tests were before it in its worker, and which beside it in others. */
  readonly reds: Map<string, Record<Side, ReadonlySet<string>>[]>;
  /** The most tests that ran at the same time. */
  workers: number;
  /** Whether a red test has been looked for in runs of the whole suite. */
  isWhole: boolean;
}

type Side = 'before' | 'beside';

export interface Suspect {
  readonly target: ListedTest;
  readonly seen: Seen;
}

/** The share of the time in which the suite is run to find what is flaky. */
const SHARE_OF_ROUNDS = 1 / 3;

/** Runs the suite again as it is configured, to see what is flaky in it. */
export async function rounds(search: FlakeSearch, seen: Seen): Promise<void> {
  const started = search.now();
  const until = started + (search.until - started) * SHARE_OF_ROUNDS;
  const most = Math.min(MOST_REPEATS, Math.ceil(search.runs / 10));
  const share = search.listed.length / Math.max(1, search.first.tests.length);
  const each = Math.max(1, search.first.durationMs * (seen.isWhole ? 1 : share));
  for (let done = 1; done < most && !isOver({ ...search, until });) {
    const times = Math.max(1, Math.min(most - done, 5, Math.floor((until - search.now()) / each)));
    const args = [`--repeat-each=${times}`];
    const ids = seen.isWhole ? null : search.listed.flatMap((one) => one.ids.slice(0, times).flat());
    const { tests } = await search.run({ ids, args, env: {}, trace: false });
    // Playwright runs the selection once for each repetition: the n-th of each test is one run of it.
    const nth = new Map<string, number>();
    const byRound: TestResult[][] = [];
    for (const one of tests) {
      const key = keyOf(one.test);
      const n = nth.get(key) ?? 0;
      nth.set(key, n + 1);
      (byRound[n] ??= []).push(one);
    }
    for (const round of byRound) addRound(seen, round, tests);
    done += times;
  }
}

/** Adds a run of each test; `all` are those that ran at that time, too. */
export function addRound(seen: Seen, tests: readonly TestResult[], all = tests): void {
  const ran = all.flatMap((one) => (one.ran ? [{ ...one, ...one.ran, key: keyOf(one.test) }] : []));
  const ofRound = new Set(tests.map(({ test }) => test.id));
  for (const one of ran) {
    const { key, test, worker, startedAt, durationMs, outcome } = one;
    if (!ofRound.has(test.id)) continue;
    seen.counts.set(key, plus(seen.counts.get(key) ?? none, countIn([one], key)));
    const during = ran.filter(
      (other) => other.startedAt <= startedAt + durationMs && other.startedAt + other.durationMs >= startedAt,
    );
    const atItsStart = ran.filter(
      (other) => other.startedAt <= startedAt && other.startedAt + other.durationMs > startedAt,
    );
    seen.workers = Math.max(seen.workers, new Set(atItsStart.map((other) => other.worker)).size);
    if (outcome !== 'unexpected') continue;
    const before = ran.filter((other) => other.worker === worker && other.startedAt < startedAt);
    const beside = during.filter((other) => other.worker !== worker);
    const [b, d] = [before, beside].map((some) => new Set(some.map((other) => other.key)));
    seen.reds.set(key, [...(seen.reds.get(key) ?? []), { before: b ?? new Set(), beside: d ?? new Set() }]);
  }
}

/** The share of the red runs of a test in which what makes it red was there, by clocks that are not exact. */
const MOSTLY = 0.75;

/** The tests that were there in most red runs of a test, the surest first: what made it red is among them. */
export function mostlyThere(
  { listed }: FlakeSearch,
  { target, seen }: Suspect,
  side: Side,
): readonly ListedTest[] {
  const reds = seen.reds.get(target.key) ?? [];
  const times = ({ key }: ListedTest) => reds.filter((red) => red[side].has(key)).length;
  const wasRed = ({ key }: ListedTest) => seen.reds.has(key);
  if (reds.length === 0) return [];
  return listed
    .filter((one) => one !== target && times(one) >= MOSTLY * reds.length)
    .toSorted((a, b) => times(b) - times(a) || Number(wasRed(b)) - Number(wasRed(a)));
}
