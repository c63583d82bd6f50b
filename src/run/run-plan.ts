import type { SuiteRun } from '../playwright/suite-run.js';

/** The place of one Playwright run among those of its self-heal run. */
export interface PlannedRun {
  /** From 1. */
  readonly n: number;
  /** How many there are likely to be; null while nothing is known of them. */
  readonly of: number | null;
  /** What it is likely to take, from what the runs before it took, in milliseconds; null before the first one has ended. */
  readonly likelyMs: number | null;
}

/** Counts Playwright runs, and says how many more there are likely to be (CL-13). */
export interface RunPlan {
  /** So many follow, as far as is known now. */
  expect(runs: number): void;
  /** A run begins; of these tests, or of the whole selection. An extra one is none of those that were expected. */
  begin(ids: readonly string[] | null, extra?: boolean): PlannedRun;
  ended(run: SuiteRun): void;
  /** What a run of these tests, or of the whole selection, is likely to take, in milliseconds; null before the first one has ended. */
  likelyMs(ids: readonly string[] | null): number | null;
  /** Runs that have begun. */
  count(): number;
}

/** A plan of a run that has not begun. */
export function createRunPlan(): RunPlan {
  const lastMs = new Map<string, number>();
  let begun = 0;
  let expected: number | null = null;
  let sideBySide = 1;
  /** What a run takes beside its tests: its servers, its start. */
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
    count: () => begun,
  };
}
