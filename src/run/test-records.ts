import type { Cause } from '../core/cause.js';
import type { TestRef } from '../core/failure.js';
import type { Verdict } from '../core/verdict.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';

/** The record of one test in a run. */
export interface TestRecord {
  readonly test: TestRef;
  verdict: Verdict;
  /** Re-runs after agents' work, over all causes of this test (HL-1). */
  retries: number;
  causeIds: string[];
  /** Healed by a fix that was made for another test (HL-6). */
  sharedFix: boolean;
  /** What it took when it first ran, in milliseconds. */
  durationMs: number;
}

/** Where each test of the run stands; what stands here at the end is its final status. */
export interface TestRecords {
  /** Takes in what a Playwright run says of tests that have not been decided otherwise. */
  saw(run: SuiteRun): void;
  /** Takes over the final status of a test in an earlier run (`self-heal resume`). */
  carry(record: TestRecord): void;
  causeFound(cause: Cause): void;
  decided(testId: string, verdict: Verdict, how?: { sharedFix?: boolean }): void;
  retried(cause: Cause, count: number): void;
  all(): readonly TestRecord[];
}

/** An empty board. */
export function createTestRecords(): TestRecords {
  const byId = new Map<string, TestRecord>();
  const testsOf = (cause: Cause) =>
    cause.members.flatMap((member) => (member.failure.scope === 'test' ? [member.failure.test.id] : []));
  return {
    saw: (run) => {
      for (const result of run.tests) see(byId, result);
    },
    carry: (record) => {
      // Its causes have their numbers in another run.
      byId.set(record.test.id, { ...record, causeIds: [] });
    },
    causeFound: (cause) => {
      for (const id of testsOf(cause)) byId.get(id)?.causeIds.push(cause.id);
    },
    decided: (testId, verdict, { sharedFix = false } = {}) => {
      const record = byId.get(testId);
      if (record) Object.assign(record, { verdict, sharedFix });
    },
    retried: (cause, count) => {
      for (const id of testsOf(cause)) {
        const record = byId.get(id);
        if (record) record.retries += count;
      }
    },
    all: () => [...byId.values()],
  };
}

/** A re-run says something new only of tests that were unknown or had not run; the rest is decided by their cause. */
function see(byId: Map<string, TestRecord>, { test, outcome, durationMs }: TestResult): void {
  const record = byId.get(test.id);
  const verdict = firstVerdict[outcome];
  if (!record) {
    byId.set(test.id, { test, verdict, retries: 0, causeIds: [], sharedFix: false, durationMs });
  } else if (record.verdict === 'not-run') Object.assign(record, { verdict, durationMs });
}

const firstVerdict: Record<TestResult['outcome'], Verdict> = {
  expected: 'passed',
  flaky: 'flaky',
  unexpected: 'failed',
  skipped: 'not-run',
  'not-run': 'not-run',
};
