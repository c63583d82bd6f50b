import type { WebServer, TestError, TestFailure } from '../model/failure.js';
import type { SuiteRun, TestResult } from './suite-run.js';

/**
 * One line of `report.ndjson`, to which the injected reporter appends while Playwright runs. Only failures have details, and the list of all tests is
 * written once, at the end, so that a passing test costs nothing.
 */
export type ReportLine =
  /** Playwright has created its reporters. */
  | { type: 'hello' }
  | {
      type: 'configured';
      rootDir: string;
      /** The setup in the config, with absolute paths. */
      webServers?: readonly WebServer[];
      globalSetup?: readonly string[];
      configFile: string | null;
      version: string;
    }
  /** `reusedServer`: URL of a server that was already running, so that Playwright did not start one. */
  | { type: 'begin'; total: number; reusedServer: string | null }
  | { type: 'error'; error: TestError }
  /** One try that ended unexpectedly; it replaces an earlier one of the same test. */
  | { type: 'failed-try'; failure: TestFailure }
  /** In a traced run: the trace of a test that passed. */
  | { type: 'passed'; test: string; trace: string }
  /** The number of tests that have ended and will not be retried, and the titles of the last one. At most a few lines a second. */
  | { type: 'progress'; done: number; failed: number; test: string }
  | {
      type: 'end';
      status: Exclude<SuiteRun['status'], 'no-report'>;
      tests: TestResult[];
      rerunIds: Record<string, string[]>;
      /** The ids of each serial group. */
      serial: string[][];
    };

/** The environment variables that the injected code reads. */
export const injectEnv = {
  /** The run's private folder, where the injected files write everything. */
  dir: 'SELF_HEAL_PLAYWRIGHT_DIR',
  /** `1`: Playwright records traces in this run. */
  traced: 'SELF_HEAL_TRACED',
} as const;

/** The names of the files and folders in a run's private folder. */
export const runFiles = {
  report: 'report.ndjson',
  serverLog: 'server.log',
  /** The output of servers that the suite's own code started; one file for each process that started any. */
  servers: 'servers',
  problems: 'problems.log',
  /** The number of failed tries that self-heal has examined. In a traced run, the last test waits for all of them. */
  examined: 'examined',
  /** Playwright's own output folder in a re-run. */
  output: 'output',
  /** Playwright's output during a re-run. */
  log: 'playwright.log',
} as const;
