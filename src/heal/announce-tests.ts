import { failureKey, type Failure } from '../model/failure.js';
import type { Verdict } from '../model/verdict.js';
import type { ListedTest } from '../event.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';
import type { Session } from './session.js';
import { relativePath } from '../paths.js';

type AnnounceContext = Pick<Session, 'bus' | 'cwd'>;

/** Announces the results of tests that are new or had not run before. Their causes decide the status of other tests. */
export function announceTests(
  { bus, cwd }: AnnounceContext,
  { tests, rerunIds = {} }: Pick<SuiteRun, 'tests'> & Partial<Pick<SuiteRun, 'rerunIds'>>,
): void {
  const knownTests = bus.getRun().tests;
  const hasNewResult = ({ test, outcome }: TestResult) => {
    const before = knownTests.get(test.id)?.verdict;
    return before === undefined || (before === 'not-run' && firstVerdict[outcome] !== before);
  };
  const results = tests.filter(hasNewResult).map((result) => ({
    ...toListedTest(result, cwd),
    ...createRerunField(rerunIds[result.test.id] ?? [], result.test.id),
  }));
  if (results.length > 0) bus.emit({ type: 'tests.seen', tests: results });
}

/** Returns the field `rerunIds`, or nothing if a test's own id is enough to re-run it. */
function createRerunField(ids: readonly string[], ownId: string): Pick<ListedTest, 'rerunIds'> {
  return ids.some((id) => id !== ownId) ? { rerunIds: ids } : {};
}

function toListedTest({ test, outcome, durationMs }: TestResult, cwd: string): ListedTest {
  const { id, titlePath: title, location, project } = test;
  const file = relativePath(cwd, location.file);
  return { id, title, file, line: location.line, project, verdict: firstVerdict[outcome], durationMs };
}

const firstVerdict: Record<TestResult['outcome'], Verdict> = {
  expected: 'passed',
  flaky: 'flaky',
  unexpected: 'failed',
  skipped: 'skipped',
  'not-run': 'not-run',
};

/** Announces the final status of the tests with these failures. */
export function announceVerdicts(
  { bus }: AnnounceContext,
  failures: readonly { readonly failure: Failure }[],
  status: { readonly verdict: Verdict; readonly sharedFix?: boolean },
): void {
  const tests = failures.filter(({ failure }) => failure.scope === 'test');
  const ids = tests.map(({ failure }) => failureKey(failure));
  if (ids.length > 0) bus.emit({ type: 'tests.decided', ids, ...status });
}
