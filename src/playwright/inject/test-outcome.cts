import type { TestCase } from '@playwright/test/reporter';
import type { TestResult } from '../suite-run.js';

const { testRef } = require('./test-failure.cjs') as import('./test-failure.cjs').Api;

/** How a test ended in the end; Playwright says `skipped` also of what it never got to, or was interrupted in. */
function outcomeOf(test: TestCase): TestResult['outcome'] {
  const outcome = test.outcome();
  if (outcome !== 'skipped') return outcome;
  if (test.results.some((result) => result.status === 'interrupted')) return 'not-run';
  return test.expectedStatus === 'skipped' ? 'skipped' : 'not-run';
}

/** A test's line in the list of all tests. */
function testResult(test: TestCase): TestResult {
  const tries = test.results.filter((result) => result.workerIndex >= 0);
  return {
    test: testRef(test),
    outcome: outcomeOf(test),
    retries: Math.max(0, ...tries.map((result) => result.retry)),
    durationMs: tries.reduce((sum, result) => sum + result.duration, 0),
  };
}

const api = { outcomeOf, testResult };
module.exports = api;
export type Api = typeof api;
