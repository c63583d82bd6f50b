import type { TestResult } from '../suite-run.js';

/** Which part of a suite one machine ran, counted from 1. The whole suite is 1 of 1. */
export interface Shard {
  readonly current: number;
  readonly total: number;
}

/** How a test of another run ended. */
export interface ReportedTest {
  /** Identifies it in every checkout of the same commit: see `testKey`. */
  readonly key: string;
  readonly outcome: TestResult['outcome'];
  readonly durationMs: number;
}

/** A report that Playwright wrote of another run, most likely on another machine. Everything in it is untrusted. */
export interface PlaywrightReport {
  /** Its path relative to the current folder, for messages. */
  readonly name: string;
  /** Null if the format does not say. */
  readonly shard: Shard | null;
  /** Null if Playwright did not record it (it needs `captureGitInfo` or a CI system that it knows). */
  readonly commit: string | null;
  /** Whether the suite itself failed, or was interrupted: it may have ended before it knew all its tests. */
  readonly isSuiteRed: boolean;
  readonly tests: readonly ReportedTest[];
}

/**
 * Returns what identifies a test in a report as in the suite here: the name of its project, and its titles beginning with its file, relative to
 * the folder of the tests. Ids are not in every report. With `repeatEach`, several tests have the same key.
 */
export function testKey(project: string, titles: readonly string[]): string {
  return `[${project}] › ${titles.filter((title) => title !== '').join(' › ')}`.replaceAll('\\', '/');
}
