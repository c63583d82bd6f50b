import type { SuiteFailure, TestFailure, TestRef } from '../model/failure.js';

/** The result of one test of a suite run. The outcomes are Playwright's, except for `not-run`. */
export interface TestResult {
  readonly test: TestRef;
  readonly outcome: 'expected' | 'unexpected' | 'flaky' | 'skipped' | 'not-run';
  readonly retries: number;
  readonly durationMs: number;
  /** The worker and the start of its first try, in milliseconds since the epoch. Absent if it did not run, or if the result is from a report. */
  readonly firstTry?: { readonly worker: number; readonly startedAt: number };
}

/** A script of a page, as its server delivered it during the run. */
export interface FetchedScript {
  /** Without its fragment. */
  readonly url: string;
  readonly text: string;
  /** The text of the source map that the script names or that is next to it; null if there is none, or it is inline. */
  readonly map: string | null;
}

export interface SuiteRun {
  /** `no-report`: Playwright ended before it created its reporters (the config throws, for example). */
  readonly status: 'passed' | 'failed' | 'timedout' | 'interrupted' | 'no-report';
  readonly exitCode: number | null;
  /** Every test of the selection, including those that did not run. Empty if Playwright ended before it collected them. */
  readonly tests: readonly TestResult[];
  /** The first recorded failed try of each test with an unexpected outcome. */
  readonly failures: readonly TestFailure[];
  /** The failure of the suite itself, or null. */
  readonly suiteFailure: SuiteFailure | null;
  /** The ids that a re-run needs to reproduce each failure, keyed by the failing test's id. */
  readonly rerunIds: Readonly<Record<string, readonly string[]>>;
  /** Path of a log with both output streams of the web servers, in order; each line is `<epoch ms> <text>`. */
  readonly serverLog: string;
  readonly rootDir: string;
  readonly configFile: string | null;
  /** The test ids of each serial group; absent if they were not recorded. */
  readonly serial?: readonly (readonly string[])[];
  /** True if `maxFailures` ended it, so that some tests did not run. */
  readonly stoppedEarly?: boolean;
  readonly durationMs: number;
  /** When the run ended, in epoch milliseconds. */
  readonly endedAt: number;
  /** The URL of a running web server that Playwright reused, or null. A server of an earlier run may serve old code (HL-9). */
  readonly reusedServer?: string | null;
  /** The ports of the config's web servers, with the loopback addresses at which each listened when the first test failed; empty if not checked. */
  readonly serverPorts?: ReadonlyMap<number, readonly string[]>;
  /** True if Playwright did not exit after its run, so that self-heal ended it. */
  readonly didNotExit?: boolean;
  /** Messages about problems of the reporter itself. */
  readonly problems: readonly string[];
  /** `on`: Playwright recorded a trace of each test. `own`: it did not, because a test records its own trace, and Playwright refuses a second one. */
  readonly tracing?: 'on' | 'own';
  /** Paths of the traces of tests that passed, by test id; absent if the run was not traced. */
  readonly traces?: ReadonlyMap<string, string>;
  /** The scripts named in the stacks of its failing tests; absent if none were fetched. */
  readonly scripts?: readonly FetchedScript[];
}

export function isRed({ failures, suiteFailure }: SuiteRun): boolean {
  return failures.length > 0 || suiteFailure !== null;
}

export function createEmptyRun(status: SuiteRun['status']): SuiteRun {
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
    problems: [],
  };
}

/** True if a test failed because it records a trace while Playwright already does. */
export function isTracedTwice({ errors }: Pick<TestFailure, 'errors'>): boolean {
  return errors.some(({ message }) => /tracing\.start: .*Tracing has been already started/.test(message));
}
