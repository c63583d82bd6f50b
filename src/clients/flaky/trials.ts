import { type TestRef, formatTitles } from '../../model/failure.js';
import { type Count, isSurelyHigher, judgeCount } from '../../model/failure-rate.js';
import type { FlakeKind } from '../../model/flake.js';
import { createTestKey } from '../../playwright/reports/report.js';
import type { SuiteRun, TestResult } from '../../playwright/suite-run.js';

/** A test of the suite, with Playwright's ids for each repetition. */
export interface RepeatedTest {
  readonly key: string;
  readonly test: TestRef;
  /** By the index of the repetition. A test of a serial group has the ids of the whole group. */
  readonly ids: readonly (readonly string[])[];
}

/** A condition under which a test runs. */
export interface Condition {
  /** The tests that run before it or in parallel with it. */
  readonly others: readonly RepeatedTest[];
  /** One: sequentially, each repetition in its own process. Null: as configured. */
  readonly workers: number | null;
  readonly env?: Readonly<Record<string, string>>;
}

/** The condition of a test that runs alone. */
export const aloneCondition: Condition = { others: [], workers: 1 };

/** The maximum number of repetitions in one Playwright run. */
export const MAX_REPEATS = 20;

/** Runs tests by id, with the repetitions in `args`. */
export type RunByIds = (request: {
  readonly ids: readonly string[] | null;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly trace: boolean;
  /** The name of the examined test, for messages. */
  readonly about?: string;
}) => Promise<SuiteRun>;

/** Returns the tests of a suite in their order, from a list with `MAX_REPEATS` repetitions of each. */
export function listRepeatedTests({
  tests,
  serial = [],
}: Pick<SuiteRun, 'tests' | 'serial'>): RepeatedTest[] {
  const groups = new Map(serial.flatMap((group) => group.map((id) => [id, group] as const)));
  const listed = new Map<string, RepeatedTest & { readonly ids: (readonly string[])[] }>();
  for (const { test } of tests) {
    const key = createTrialKey(test);
    const entry = listed.get(key) ?? { key, test, ids: [] };
    entry.ids.push(groups.get(test.id) ?? [test.id]);
    listed.set(key, entry);
  }
  return [...listed.values()];
}

/** Creates the key of a test, which all of its repetitions share. */
export function createTrialKey({ project, titlePath }: TestRef): string {
  return createTestKey(project, titlePath);
}

/** Runs a test up to `MAX_REPEATS` times under a condition, in one Playwright run. */
export function runUnderCondition(
  run: RunByIds,
  { others, workers, env = {} }: Condition,
  { target, times, trace = false }: { target: RepeatedTest; times: number; trace?: boolean },
): Promise<SuiteRun> {
  const ids = [...others, target].flatMap((test) => test.ids.slice(0, times).flat());
  const args = [`--repeat-each=${times}`, ...(workers === null ? [] : [`--workers=${workers}`])];
  return run({ ids: [...new Set(ids)], args, env, trace, about: formatTitles(target.test.titlePath) });
}

/** Counts how often a test was red among the repetitions of a run. */
export function countRedRuns(tests: readonly TestResult[], key: string): Count {
  const outcomes = tests.flatMap(({ test, outcome }) => (createTrialKey(test) === key ? [outcome] : []));
  const red = outcomes.filter((outcome) => outcome === 'unexpected').length;
  const green = outcomes.filter((outcome) => outcome === 'expected' || outcome === 'flaky').length;
  return { red, runs: red + green };
}

export function addCounts(a: Count, b: Count): Count {
  return { red: a.red + b.red, runs: a.runs + b.runs };
}

export const noRuns: Count = { red: 0, runs: 0 };

/** The parts of a run that a search for flakes needs. */
export interface FlakeSearch {
  /** All tests of the suite in their order, even those that were not selected. */
  readonly allTests: readonly RepeatedTest[];
  /** The first run, in the suite's own configuration. */
  readonly first: SuiteRun;
  /** True if the user named tests: each of them is examined even if it was never red. */
  readonly isNamed: boolean;
  /** Keys of tests already known to be flaky, which alone are examined; empty to search for flaky tests. */
  readonly suspected: ReadonlySet<string>;
  readonly run: RunByIds;
  /** The maximum number of runs of one test under one condition. */
  readonly maxRuns: number;
  /** The deadline of the search, in milliseconds since the epoch. */
  readonly until: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
}

export const isSearchOver = ({ signal, until, now }: FlakeSearch) => signal.aborted || now() >= until;

/** A condition that may turn a test red, and the results of its runs. */
export interface FlakeTrial {
  readonly kind: FlakeKind;
  readonly condition: Condition;
  readonly describe: (others: readonly RepeatedTest[]) => string;
  count: Count;
}

/** The trial of a test that runs alone. */
export const aloneTrial = { kind: 'random', condition: aloneCondition, describe: () => 'alone' } as const;

export const createTrial = (trial: Omit<FlakeTrial, 'count'>): FlakeTrial => ({ ...trial, count: noRuns });

/** Adds runs of a test under a condition. Returns false if there was no new run, for example because time was up. */
export async function extendTrial(
  search: FlakeSearch,
  target: RepeatedTest,
  trial: FlakeTrial,
  times: number,
): Promise<boolean> {
  const remaining = Math.min(times, search.maxRuns - trial.count.runs, MAX_REPEATS);
  if (remaining <= 0 || isSearchOver(search)) return false;
  const run = await runUnderCondition(search.run, trial.condition, { target, times: remaining });
  const now = countRedRuns(run.tests, target.key);
  trial.count = addCounts(trial.count, now);
  return now.runs > 0;
}

/** The numbers of runs between two evaluations of a condition's count. */
const batches = [5, 5, 10, MAX_REPEATS];

/** The lowest failure rate that the search tries to find in a test. */
export const MIN_RATE = 0.1;

/** Runs a test under a condition until its count is conclusive (FL-1), or until there are `most` runs. */
export async function measureTrial(
  search: FlakeSearch,
  target: RepeatedTest,
  trial: FlakeTrial,
  { expected = MIN_RATE, most = search.maxRuns } = {},
): Promise<void> {
  for (let look = 1; trial.count.runs < most; look += 1) {
    if (judgeCount(trial.count, { look: Math.max(1, look - 1), expected }) !== 'open') return;
    if (!(await extendTrial(search, target, trial, batches[look - 1] ?? MAX_REPEATS))) return;
  }
}

/** Runs a test under two conditions. Returns true once it is surely red more often under the first one, false if that cannot be shown. */
export async function proveRedMoreOften(
  search: FlakeSearch,
  target: RepeatedTest,
  [trial, control]: readonly [FlakeTrial, FlakeTrial],
): Promise<boolean> {
  for (;;) {
    const [trialCount, other] = [trial.count, control.count];
    if (isSurelyHigher(trialCount, other)) return true;
    // A race can be red under any condition.
    if (3 * other.red * trialCount.runs >= trialCount.red * other.runs && other.red > 0) return false;
    const fewer = trial.count.runs < control.count.runs ? trial : control;
    if (!(await extendTrial(search, target, fewer, 5))) return false;
  }
}
