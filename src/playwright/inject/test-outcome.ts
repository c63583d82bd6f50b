import type { TestCase } from '@playwright/test/reporter';
import type { TestResult } from '../suite-run.js';
import { testRef } from './test-failure.js';

/**
 * Returns the final outcome of a test. Playwright also says `skipped` about tests that it never started or that were
 * interrupted.
 */
export function outcomeOf(test: TestCase): TestResult['outcome'] {
  const outcome = test.outcome();
  if (outcome !== 'skipped') return outcome;
  if (test.results.some((result) => result.status === 'interrupted')) return 'not-run';
  return test.expectedStatus === 'skipped' ? 'skipped' : 'not-run';
}

/** Returns a test's entry in the list of all tests. */
export function testResult(test: TestCase): TestResult {
  const tries = test.results.filter((result) => result.workerIndex >= 0);
  const [first] = tries;
  return {
    ...(first ? { ran: { worker: first.workerIndex, startedAt: first.startTime.getTime() } } : {}),
    test: testRef(test),
    outcome: outcomeOf(test),
    retries: Math.max(0, ...tries.map((result) => result.retry)),
    durationMs: tries.reduce((sum, result) => sum + result.duration, 0),
  };
}
