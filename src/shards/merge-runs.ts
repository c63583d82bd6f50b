import type { TestFailure } from '../core/failure.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';
import type { ShardRun } from './read-shard.js';

/**
 * Merges the shards of a suite into one run, in their order. If several shards ran the same test, such as that of a set-up project, its worst
 * outcome counts. The first failure of each test is kept, and the first failure of the suite itself, since others surface once it is healed.
 * The duration is the sum, as if one machine had run all shards in turn. Pure.
 */
export function mergeRuns(shards: readonly ShardRun[]): ShardRun {
  const runs = shards.map(({ run }) => run);
  const tests = new Map<string, TestResult>();
  for (const one of runs.flatMap((run) => run.tests))
    tests.set(one.test.id, worse(tests.get(one.test.id), one));
  const failures = new Map<string, TestFailure>();
  for (const one of runs.flatMap((run) => run.failures))
    if (!failures.has(one.test.id)) failures.set(one.test.id, one);
  const broken = runs.find((run) => run.suiteFailure !== null);
  return {
    known: new Map(shards.flatMap(({ known }) => [...known])),
    run: {
      status: worstStatus(runs),
      exitCode: Math.max(...runs.map(({ exitCode }) => exitCode ?? 1)),
      tests: [...tests.values()],
      failures: [...failures.values()],
      suiteFailure: broken?.suiteFailure ?? null,
      rerunIds: union(runs.map(({ rerunIds }) => rerunIds)),
      serverLog: broken?.serverLog ?? '',
      rootDir: runs[0]?.rootDir ?? '',
      configFile: runs.find(({ configFile }) => configFile !== null)?.configFile ?? null,
      testFiles: [...new Set(runs.flatMap((run) => run.testFiles ?? []))],
      durationMs: runs.reduce((sum, { durationMs }) => sum + durationMs, 0),
      endedAt: Math.max(...runs.map(({ endedAt }) => endedAt)),
      captureProblems: [...new Set(runs.flatMap(({ captureProblems }) => captureProblems))],
    },
  };
}

const outcomes: readonly TestResult['outcome'][] = ['not-run', 'skipped', 'expected', 'flaky', 'unexpected'];

function worse(before: TestResult | undefined, now: TestResult): TestResult {
  return before && outcomes.indexOf(before.outcome) >= outcomes.indexOf(now.outcome) ? before : now;
}

const statuses: readonly SuiteRun['status'][] = ['passed', 'failed', 'no-report', 'timedout', 'interrupted'];

function worstStatus(runs: readonly SuiteRun[]): SuiteRun['status'] {
  return statuses[Math.max(...runs.map(({ status }) => statuses.indexOf(status)))] ?? 'passed';
}

function union(lists: readonly SuiteRun['rerunIds'][]): Record<string, string[]> {
  const all = new Map<string, Set<string>>();
  for (const [id, ids] of lists.flatMap((one) => Object.entries(one)))
    all.set(id, new Set([...(all.get(id) ?? []), ...ids]));
  return Object.fromEntries([...all].map(([id, ids]) => [id, [...ids]]));
}
