import type { SuiteRun, TestResult } from './suite-run.js';
import type { TestError, TestFailure } from '../core/failure.js';

/**
 * One line of `report.ndjson`, which the injected reporter appends to while Playwright runs. Only failures carry detail,
 * and the list of all tests comes once, at the end, so that a suite of any size costs one line a test.
 */
export type ReportLine =
  /** The reporter was made; without this line Playwright ended before it had reporters. */
  | { type: 'hello' }
  | {
      type: 'configured';
      rootDir: string;
      configFile: string | null;
      version: string;
      shard: { current: number; total: number } | null;
    }
  /** `reusedServer`: a server that answered already, so that Playwright started none. */
  | { type: 'begin'; total: number; reusedServer: string | null }
  | { type: 'error'; error: TestError }
  /** One try that ended unexpectedly; a later one of the same test takes its place. */
  | { type: 'failed-try'; failure: TestFailure }
  /** A test ended for good. */
  | { type: 'test-end'; title: string; failed: boolean }
  | {
      type: 'end';
      status: Exclude<SuiteRun['status'], 'norep'>;
      tests: TestResult[];
      rerunIds: Record<string, string[]>;
      /** The ids of each serial group. */
      serial: string[][];
    };

/** What the injected files find in their environment; being CommonJS they spell these names out themselves. */
export const injectEnv = {
  /** The run's private folder, which everything is written into. */
  dir: 'SELF_HEAL_PLAYWRIGHT_DIR',
  /** How many console entries, and how many requests, are kept of one try. */
  keep: 'SELF_HEAL_CAPTURE_KEEP',
  /** A picture is taken of what passes, too. */
  pictures: 'SELF_HEAL_CAPTURE_PICTURES',
} as const;

/** The names of what a run leaves in its private folder. */
export const runFiles = {
  report: 'report.ndjson',
  serverLog: 'server.log',
  /** The output of servers that the suite's own code started, a file for each process that started some. */
  servers: 'servers',
  problems: 'problems.log',
  /** What Playwright's processes loaded and read, a path a line. */
  loaded: 'loaded-files',
  captures: 'captures',
  /** What the pages of passing and of failing tests complained of. */
  complaints: 'complaints.ndjson',
  /** Playwright's own output folder in a re-run. */
  output: 'output',
  /** What Playwright printed in a re-run. */
  log: 'playwright.log',
} as const;
