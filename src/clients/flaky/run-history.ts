import type { Count } from '../../model/failure-rate.js';
import type { TestResult } from '../../playwright/suite-run.js';
import {
  countIn,
  type FlakeSearch,
  isOver,
  trialKeyOf,
  type RepeatedTest,
  MOST_REPEATS,
  none,
  plus,
} from './trials.js';

/** The results of the suite's runs so far. */
export interface RunHistory {
  readonly counts: Map<string, Count>;
  /** For each red run of a test: the tests that ran before it in its worker, and those beside it in other workers. */
  readonly reds: Map<string, Record<Side, ReadonlySet<string>>[]>;
  /** The most tests that ran at the same time. */
  workers: number;
  /** Whether the whole suite has been run in search of red tests. */
  isWhole: boolean;
}

type Side = 'before' | 'concurrent';

export interface Suspect {
  readonly target: RepeatedTest;
  readonly history: RunHistory;
}

/** The share of the time in which the suite is run to find what is flaky. */
const SHARE_OF_ROUNDS = 1 / 3;

/** Runs the suite repeatedly as it is configured, to see which tests are flaky. */
export async function rounds(search: FlakeSearch, history: RunHistory): Promise<void> {
  const started = search.now();
  const until = started + (search.until - started) * SHARE_OF_ROUNDS;
  const most = Math.min(MOST_REPEATS, Math.ceil(search.runs / 10));
  const share = search.listed.length / Math.max(1, search.first.tests.length);
  const each = Math.max(1, search.first.durationMs * (history.isWhole ? 1 : share));
  for (let done = 1; done < most && !isOver({ ...search, until });) {
    const times = Math.max(1, Math.min(most - done, 5, Math.floor((until - search.now()) / each)));
    const args = [`--repeat-each=${times}`];
    const ids = history.isWhole ? null : search.listed.flatMap((test) => test.ids.slice(0, times).flat());
    const { tests } = await search.run({ ids, args, env: {}, trace: false });
    // Playwright runs the selection once for each repetition: the n-th of each test is one run of it.
    const nth = new Map<string, number>();
    const byRound: TestResult[][] = [];
    for (const result of tests) {
      const key = trialKeyOf(result.test);
      const n = nth.get(key) ?? 0;
      nth.set(key, n + 1);
      (byRound[n] ??= []).push(result);
    }
    for (const round of byRound) addRound(history, round, tests);
    done += times;
  }
}

/** Adds one run of each test. `all` are the results of everything that ran at that time. */
export function addRound(history: RunHistory, tests: readonly TestResult[], all = tests): void {
  const timed = all.flatMap((result) =>
    result.firstTry ? [{ ...result, ...result.firstTry, key: trialKeyOf(result.test) }] : [],
  );
  const ofRound = new Set(tests.map(({ test }) => test.id));
  for (const result of timed) {
    const { key, test, worker, startedAt, durationMs, outcome } = result;
    if (!ofRound.has(test.id)) continue;
    history.counts.set(key, plus(history.counts.get(key) ?? none, countIn([result], key)));
    const during = timed.filter(
      (other) => other.startedAt <= startedAt + durationMs && other.startedAt + other.durationMs >= startedAt,
    );
    const atItsStart = timed.filter(
      (other) => other.startedAt <= startedAt && other.startedAt + other.durationMs > startedAt,
    );
    history.workers = Math.max(history.workers, new Set(atItsStart.map((other) => other.worker)).size);
    if (outcome !== 'unexpected') continue;
    const before = timed.filter((other) => other.worker === worker && other.startedAt < startedAt);
    const concurrent = during.filter((other) => other.worker !== worker);
    const [b, d] = [before, concurrent].map((some) => new Set(some.map((other) => other.key)));
    history.reds.set(key, [
      ...(history.reds.get(key) ?? []),
      { before: b ?? new Set(), concurrent: d ?? new Set() },
    ]);
  }
}

/** In which share of a test's red runs a test must have been present to be suspected; clocks are not exact. */
const MOSTLY = 0.75;

/** Returns the tests that were present in most red runs of a test, the most likely first. */
export function mostlyPresent(
  { listed }: FlakeSearch,
  { target, history }: Suspect,
  side: Side,
): readonly RepeatedTest[] {
  const reds = history.reds.get(target.key) ?? [];
  const times = ({ key }: RepeatedTest) => reds.filter((red) => red[side].has(key)).length;
  const wasRed = ({ key }: RepeatedTest) => history.reds.has(key);
  if (reds.length === 0) return [];
  return listed
    .filter((test) => test !== target && times(test) >= MOSTLY * reds.length)
    .toSorted((a, b) => times(b) - times(a) || Number(wasRed(b)) - Number(wasRed(a)));
}
