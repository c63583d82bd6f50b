import type { SuiteRun } from '../playwright/suite-run.js';

/** One Playwright run's place in the plan of its self-heal run. */
export interface PlannedRun {
  /** Counted from 1. */
  readonly n: number;
  /** The estimated total number of runs; null until there is an estimate. */
  readonly of: number | null;
  /** The estimated duration based on earlier runs, in milliseconds; null before the first run has ended. */
  readonly likelyMs: number | null;
}

/** Counts Playwright runs, and estimates how many more there will be (CL-13). */
export interface RunPlan {
  /** Sets the number of runs that are expected to follow. */
  expect(runs: number): void;
  /** Begins a run of these tests, or of the whole selection. An extra run is not counted among the expected ones. */
  begin(ids: readonly string[] | null, extra?: boolean): PlannedRun;
  ended(run: SuiteRun): void;
  /** Estimates the duration of a run of these tests, or of the whole selection, in milliseconds; null before the first run has ended. */
  likelyMs(ids: readonly string[] | null): number | null;
}

/** Creates the plan of a run that has not begun. */
export function createRunPlan(): RunPlan {
  const lastMs = new Map<string, number>();
  let begun = 0;
  let expected: number | null = null;
  let sideBySide = 1;
  /** The time a run takes besides its tests, such as starting its servers. */
  let besideMs: number | null = null;
  const testsMs = (ids: Iterable<string>) =>
    [...ids].reduce((sum, id) => sum + (lastMs.get(id) ?? 0), 0) / sideBySide;
  const likelyMs = (ids: readonly string[] | null) =>
    besideMs === null ? null : Math.round(besideMs + testsMs(ids ?? lastMs.keys()));
  return {
    likelyMs,
    expect: (runs) => {
      expected = runs;
    },
    begin: (ids, extra = false) => {
      begun += 1;
      if (expected !== null && !extra) expected = Math.max(0, expected - 1);
      return { n: begun, of: expected === null ? null : begun + expected, likelyMs: likelyMs(ids) };
    },
    ended: ({ tests, durationMs }) => {
      const ran = tests.filter(({ outcome }) => outcome !== 'not-run');
      for (const { test, durationMs: ms } of ran) lastMs.set(test.id, ms);
      const sum = ran.reduce((total, one) => total + one.durationMs, 0);
      if (durationMs > 0) sideBySide = Math.max(sideBySide, sum / durationMs);
      besideMs = Math.max(0, durationMs - sum / sideBySide);
    },
  };
}
