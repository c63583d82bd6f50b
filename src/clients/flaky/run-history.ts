import type { Count } from '../../model/failure-rate.js';
import type { TestResult } from '../../playwright/suite-run.js';
import {
  countRedRuns,
  type FlakeSearch,
  isSearchOver,
  createTrialKey,
  type RepeatedTest,
  MAX_REPEATS,
  noRuns,
  addCounts,
} from './trials.js';

/** The results of the suite's runs so far. */
export interface RunHistory {
  readonly counts: Map<string, Count>;
  /** For each red run of a test: the tests before it in its worker, and those in parallel in other workers. */
  readonly reds: Map<string, Record<Side, ReadonlySet<string>>[]>;
  /** The maximum number of tests that ran at the same time. */
  workers: number;
  /** True if the whole suite has run in search of red tests. */
  isWholeSuite: boolean;
}

type Side = 'before' | 'concurrent';

export interface Suspect {
  readonly target: RepeatedTest;
  readonly history: RunHistory;
}

/** The share of the search's time for runs of the whole suite. */
const ROUNDS_TIME_SHARE = 1 / 3;

/** Runs the suite repeatedly in its own configuration, to find flaky tests. */
export async function runRounds(search: FlakeSearch, history: RunHistory): Promise<void> {
  const started = search.now();
  const until = started + (search.until - started) * ROUNDS_TIME_SHARE;
  const maxRounds = Math.min(MAX_REPEATS, Math.ceil(search.maxRuns / 10));
  const share = search.allTests.length / Math.max(1, search.first.tests.length);
  const roundMs = Math.max(1, search.first.durationMs * (history.isWholeSuite ? 1 : share));
  for (let done = 1; done < maxRounds && !isSearchOver({ ...search, until });) {
    const times = Math.max(1, Math.min(maxRounds - done, 5, Math.floor((until - search.now()) / roundMs)));
    const args = [`--repeat-each=${times}`];
    const ids = history.isWholeSuite
      ? null
      : search.allTests.flatMap((test) => test.ids.slice(0, times).flat());
    const { tests } = await search.run({ ids, args, env: {}, trace: false });
    // Playwright repeats the selection: the n-th results of all tests together are one run of the suite.
    const occurrences = new Map<string, number>();
    const byRound: TestResult[][] = [];
    for (const result of tests) {
      const key = createTrialKey(result.test);
      const n = occurrences.get(key) ?? 0;
      occurrences.set(key, n + 1);
      (byRound[n] ??= []).push(result);
    }
    for (const round of byRound) addRound(history, round, tests);
    done += times;
  }
}

/** Adds one run of each test. `all` are the results of all tests that ran at that time. */
export function addRound(history: RunHistory, tests: readonly TestResult[], all = tests): void {
  const timed = all.flatMap((result) =>
    result.firstTry ? [{ ...result, ...result.firstTry, key: createTrialKey(result.test) }] : [],
  );
  const roundIds = new Set(tests.map(({ test }) => test.id));
  for (const result of timed) {
    const { key, test, worker, startedAt, durationMs, outcome } = result;
    if (!roundIds.has(test.id)) continue;
    history.counts.set(key, addCounts(history.counts.get(key) ?? noRuns, countRedRuns([result], key)));
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
    history.reds.set(key, [
      ...(history.reds.get(key) ?? []),
      {
        before: new Set(before.map((other) => other.key)),
        concurrent: new Set(concurrent.map((other) => other.key)),
      },
    ]);
  }
}

/** A test is a suspect if it was present in this share of another test's red runs. Less than all, because clocks are not exact. */
const MIN_PRESENCE = 0.75;

/** Lists the tests that were present in most red runs of a test, most likely first. */
export function listTestsInMostRedRuns(
  { allTests }: FlakeSearch,
  { target, history }: Suspect,
  side: Side,
): readonly RepeatedTest[] {
  const reds = history.reds.get(target.key) ?? [];
  const countRedRunsWith = ({ key }: RepeatedTest) => reds.filter((red) => red[side].has(key)).length;
  const wasRed = ({ key }: RepeatedTest) => history.reds.has(key);
  if (reds.length === 0) return [];
  return allTests
    .filter((test) => test !== target && countRedRunsWith(test) >= MIN_PRESENCE * reds.length)
    .toSorted((a, b) => countRedRunsWith(b) - countRedRunsWith(a) || Number(wasRed(b)) - Number(wasRed(a)));
}
