import type { SuiteRun } from '../playwright/suite-run.js';

/** One of the Playwright runs that a self-heal run makes. */
export interface PlannedRun {
  /** Counted from 1. */
  readonly n: number;
  /** The estimated duration based on earlier runs, in milliseconds; null before the first run has ended. */
  readonly estimateMs: number | null;
}

/** Counts Playwright runs, and estimates how long each takes (CL-13). */
export interface RunPlan {
  /** Begins a run of these tests, or of the whole selection. */
  begin(ids: readonly string[] | null): PlannedRun;
  recordEnd(run: SuiteRun): void;
  /** Estimates the duration of a run of these tests, or of the whole selection, in milliseconds; null before the first run has ended. */
  estimateMs(ids: readonly string[] | null): number | null;
}

export function createRunPlan(): RunPlan {
  const lastMs = new Map<string, number>();
  let started = 0;
  let parallelism = 1;
  /** The duration of a run beyond its tests, such as the start of its servers. */
  let overheadMs: number | null = null;
  const sumTestTimes = (ids: Iterable<string>) =>
    [...ids].reduce((sum, id) => sum + (lastMs.get(id) ?? 0), 0) / parallelism;
  const estimateMs = (ids: readonly string[] | null) =>
    overheadMs === null ? null : Math.round(overheadMs + sumTestTimes(ids ?? lastMs.keys()));
  return {
    estimateMs,
    begin: (ids) => {
      started += 1;
      return { n: started, estimateMs: estimateMs(ids) };
    },
    recordEnd: ({ tests, durationMs }) => {
      const results = tests.filter(({ outcome }) => outcome !== 'not-run');
      for (const { test, durationMs: ms } of results) lastMs.set(test.id, ms);
      const sum = results.reduce((total, result) => total + result.durationMs, 0);
      if (durationMs > 0) parallelism = Math.max(parallelism, sum / durationMs);
      overheadMs = Math.max(0, durationMs - sum / parallelism);
    },
  };
}
