import { type TestRef, formatTitles } from '../../model/failure.js';
import { type Count, isSurelyHigher, judgeCount } from '../../model/failure-rate.js';
import type { FlakeKind } from '../../model/flake.js';
import { testKey } from '../../playwright/reports/report.js';
import type { SuiteRun, TestResult } from '../../playwright/suite-run.js';

/** A test of the suite, with Playwright's id of each of its repetitions. */
export interface RepeatedTest {
  readonly key: string;
  readonly test: TestRef;
  /** By the index of the repetition. Those of a serial group have the ids of the whole group. */
  readonly ids: readonly (readonly string[])[];
}

/** The conditions under which a test is run. */
export interface Condition {
  /** The tests that run before it or beside it. */
  readonly others: readonly RepeatedTest[];
  /** One: one after the other, each repetition in a process of its own. Null: as the suite is configured. */
  readonly workers: number | null;
  readonly env?: Readonly<Record<string, string>>;
}

/** The test runs alone. */
export const alone: Condition = { others: [], workers: 1 };

/** The most repetitions in one Playwright run. */
export const MOST_REPEATS = 20;

/** Runs tests by id as often as `args` say. */
export type RunByIds = (request: {
  readonly ids: readonly string[] | null;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly trace: boolean;
  /** The name of the test that the runs are about, if there is one. */
  readonly about?: string;
}) => Promise<SuiteRun>;

/** The tests of a suite, which was listed with `MOST_REPEATS` repetitions of each, in the order in which they run. */
export function listedTests({ tests, serial = [] }: Pick<SuiteRun, 'tests' | 'serial'>): RepeatedTest[] {
  const groups = new Map(serial.flatMap((group) => group.map((id) => [id, group] as const)));
  const listed = new Map<string, RepeatedTest & { readonly ids: (readonly string[])[] }>();
  for (const { test } of tests) {
    const key = trialKeyOf(test);
    const known = listed.get(key) ?? { key, test, ids: [] };
    known.ids.push(groups.get(test.id) ?? [test.id]);
    listed.set(key, known);
  }
  return [...listed.values()];
}

/** Returns the key that all repetitions of a test share, and no other test has. */
export function trialKeyOf({ project, titlePath }: TestRef): string {
  return testKey(project, titlePath);
}

/** Runs a test up to `MOST_REPEATS` times under a condition, in one Playwright run. */
export function runUnder(
  run: RunByIds,
  { others, workers, env = {} }: Condition,
  { target, times, trace = false }: { target: RepeatedTest; times: number; trace?: boolean },
): Promise<SuiteRun> {
  const ids = [...others, target].flatMap((test) => test.ids.slice(0, times).flat());
  const args = [`--repeat-each=${times}`, ...(workers === null ? [] : [`--workers=${workers}`])];
  return run({ ids: [...new Set(ids)], args, env, trace, about: formatTitles(target.test.titlePath) });
}

/** Counts how often a test was red among the repetitions of a run. */
export function countIn(tests: readonly TestResult[], key: string): Count {
  const ends = tests.flatMap(({ test, outcome }) => (trialKeyOf(test) === key ? [outcome] : []));
  const red = ends.filter((outcome) => outcome === 'unexpected').length;
  return { red, runs: red + ends.filter((outcome) => outcome === 'expected' || outcome === 'flaky').length };
}

/** Adds two counts. */
export function plus(a: Count, b: Count): Count {
  return { red: a.red + b.red, runs: a.runs + b.runs };
}

export const none: Count = { red: 0, runs: 0 };

/** What a search for flakes needs from a run. */
export interface FlakeSearch {
  /** All tests of the suite in the order in which they run, whether they were selected or not. */
  readonly listed: readonly RepeatedTest[];
  /** The first run, as the suite is configured. */
  readonly first: SuiteRun;
  /** Whether tests were named: each of these is examined even if it was never red. */
  readonly isNamed: boolean;
  /** Keys of tests that are known to be flaky, which alone are examined; empty to search for flaky tests. */
  readonly suspected: ReadonlySet<string>;
  readonly run: RunByIds;
  /** The most runs of one test under one condition. */
  readonly runs: number;
  /** When the search has to be over, in milliseconds since the epoch. */
  readonly until: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly say: (message: string) => void;
}

export const isOver = ({ signal, until, now }: FlakeSearch) => signal.aborted || now() >= until;

/** A condition that may make a test red, and what its runs have shown. */
export interface FlakeTrial {
  readonly kind: FlakeKind;
  readonly under: Condition;
  readonly words: (others: readonly RepeatedTest[]) => string;
  count: Count;
}

/** A test by itself. */
export const own = { kind: 'random', under: alone, words: () => 'alone' } as const;

export const newTrial = (of: Omit<FlakeTrial, 'count'>): FlakeTrial => ({ ...of, count: none });

/** Runs a test under a condition. Returns false if this added no run, for example because time was up. */
export async function tryOn(
  search: FlakeSearch,
  target: RepeatedTest,
  trial: FlakeTrial,
  times: number,
): Promise<boolean> {
  const remaining = Math.min(times, search.runs - trial.count.runs, MOST_REPEATS);
  if (remaining <= 0 || isOver(search)) return false;
  const run = await runUnder(search.run, trial.under, { target, times: remaining });
  const now = countIn(run.tests, target.key);
  trial.count = plus(trial.count, now);
  return now.runs > 0;
}

/** How many runs of one condition are made before its count is judged again. */
const batches = [5, 5, 10, MOST_REPEATS];

/** The lowest failure rate that the search looks for in a test that is not known to be flaky. */
export const LEAST_RATE = 0.1;

/** Runs a test under a condition until its count is conclusive (FL-1), or has `most` runs. */
export async function measure(
  search: FlakeSearch,
  target: RepeatedTest,
  trial: FlakeTrial,
  { expected = LEAST_RATE, most = search.runs } = {},
): Promise<void> {
  for (let look = 1; trial.count.runs < most; look += 1) {
    if (judgeCount(trial.count, { look: Math.max(1, look - 1), expected }) !== 'open') return;
    if (!(await tryOn(search, target, trial, batches[look - 1] ?? MOST_REPEATS))) return;
  }
}

/** Runs a test under both conditions until it is certainly red more often under the first. Returns false if that cannot be shown. */
export async function isMoreRed(
  search: FlakeSearch,
  target: RepeatedTest,
  [trial, control]: readonly [FlakeTrial, FlakeTrial],
): Promise<boolean> {
  for (;;) {
    const [trialCount, other] = [trial.count, control.count];
    if (isSurelyHigher(trialCount, other)) return true;
    // A race is red under any condition.
    if (3 * other.red * trialCount.runs >= trialCount.red * other.runs && other.red > 0) return false;
    const fewer = trial.count.runs < control.count.runs ? trial : control;
    if (!(await tryOn(search, target, fewer, 5))) return false;
  }
}
