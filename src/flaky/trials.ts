import type { TestRef } from '../core/failure.js';
import type { Count } from '../core/failure-rate.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';

/** A test of the suite, with Playwright's id of each of its repetitions. */
export interface ListedTest {
  readonly key: string;
  readonly test: TestRef;
  /** By the index of the repetition. Those of a serial group have the ids of the whole group. */
  readonly ids: readonly (readonly string[])[];
}

/** Under what a test is run. */
export interface Condition {
  /** The tests that run before it or beside it. */
  readonly others: readonly ListedTest[];
  /** One: one after the other, each repetition in a process of its own. Null: as the suite is configured. */
  readonly workers: number | null;
  readonly env?: Readonly<Record<string, string>>;
}

/** By itself, and nothing beside it. */
export const alone: Condition = { others: [], workers: 1 };

/** The most repetitions in one Playwright run. */
export const MOST_REPEATS = 20;

/** Runs tests by id as often as `args` say. */
export type RunByIds = (request: {
  readonly ids: readonly string[] | null;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly trace: boolean;
}) => Promise<SuiteRun>;

/** The tests of a suite, which was listed with `MOST_REPEATS` repetitions of each, in the order in which they run. */
export function listedTests({ tests, serial = [] }: Pick<SuiteRun, 'tests' | 'serial'>): ListedTest[] {
  const groups = new Map(serial.flatMap((group) => group.map((id) => [id, group] as const)));
  const listed = new Map<string, ListedTest & { readonly ids: (readonly string[])[] }>();
  for (const { test } of tests) {
    const key = keyOf(test);
    const known = listed.get(key) ?? { key, test, ids: [] };
    known.ids.push(groups.get(test.id) ?? [test.id]);
    listed.set(key, known);
  }
  return [...listed.values()];
}

/** What all repetitions of a test have in common, and no other test has. */
export function keyOf({ project, location, titlePath }: TestRef): string {
  return [project, location.file, ...titlePath].join('\0');
}

/** Runs a test so many times under a condition, at most `MOST_REPEATS`, in one Playwright run. */
export function runUnder(
  run: RunByIds,
  { others, workers, env = {} }: Condition,
  { target, times, trace = false }: { target: ListedTest; times: number; trace?: boolean },
): Promise<SuiteRun> {
  const ids = [...others, target].flatMap((one) => one.ids.slice(0, times).flat());
  const args = [`--repeat-each=${times}`, ...(workers === null ? [] : [`--workers=${workers}`])];
  return run({ ids: [...new Set(ids)], args, env, trace });
}

/** Counts how often a test was red among the repetitions of a run. */
export function countIn(tests: readonly TestResult[], key: string): Count {
  const ends = tests.flatMap(({ test, outcome }) => (keyOf(test) === key ? [outcome] : []));
  const red = ends.filter((one) => one === 'unexpected').length;
  return { red, runs: red + ends.filter((one) => one === 'expected' || one === 'flaky').length };
}

/** Adds two counts. */
export function plus(one: Count, other: Count): Count {
  return { red: one.red + other.red, runs: one.runs + other.runs };
}

export const none: Count = { red: 0, runs: 0 };
