import type { SuiteFailure, TestFailure, TestRef } from '../core/failure.js';

/** How one test of a suite run ended, by Playwright's own words. */
export interface TestResult {
  readonly test: TestRef;
  readonly outcome: 'expected' | 'unexpected' | 'flaky' | 'skipped' | 'not-run';
  readonly retries: number;
  readonly durationMs: number;
}

/** One finished Playwright run. */
export interface SuiteRun {
  /** `norep`: Playwright ended before it made its reporters (the config throws, say). */
  readonly status: 'passed' | 'failed' | 'timedout' | 'interrupted' | 'norep';
  readonly exitCode: number | null;
  /** Every test of the selection, also those that did not run. Empty where Playwright never got to know them. */
  readonly tests: readonly TestResult[];
  /** The last try of each test that ended unexpectedly. */
  readonly failures: readonly TestFailure[];
  /** The run's own failure, or null. */
  readonly suiteFailure: SuiteFailure | null;
  /** Ids to give to a re-run so that exactly these failures run again, keyed by the failing test's id. */
  readonly rerunIds: Readonly<Record<string, readonly string[]>>;
  /** Path of the web servers' output, both streams, in order; each line `<epoch ms> <text>`. */
  readonly serverLog: string;
  readonly rootDir: string;
  /** Files of the project that Playwright's own processes were seen to load or read, absolute; absent where nobody looked. */
  readonly testFiles?: readonly string[];
  readonly configFile: string | null;
  /** The part of the suite that it ran, from 1; null or absent where that is the whole of it. */
  readonly shard?: { readonly current: number; readonly total: number } | null;
  /** The ids of each group of tests that run one after the other or not at all; absent where nobody looked. */
  readonly serial?: readonly (readonly string[])[];
  readonly durationMs: number;
  /** Epoch milliseconds of the end of the run. */
  readonly endedAt: number;
  /**
   * Where a web server answered before Playwright could start the configured one, so that it was taken as it is: one of
   * an earlier run may serve old code (HL-9). Null or absent where there is none.
   */
  readonly reusedServer?: string | null;
  /** Its run was over and Playwright did not exit, so that it was ended. */
  readonly endedLingering?: boolean;
  /** Self-heal's own problems with capturing, in words. */
  readonly captureProblems: readonly string[];
}

/** Whether anything failed: a test, or the suite itself. */
export function isRed({ failures, suiteFailure }: SuiteRun): boolean {
  return failures.length > 0 || suiteFailure !== null;
}

/** A run in which nothing was run. */
export function noRun(status: SuiteRun['status']): SuiteRun {
  return {
    status,
    exitCode: 0,
    tests: [],
    failures: [],
    suiteFailure: null,
    rerunIds: {},
    serverLog: '',
    rootDir: process.cwd(),
    configFile: null,
    durationMs: 0,
    endedAt: 0,
    captureProblems: [],
  };
}
