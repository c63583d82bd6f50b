import type { SuiteRun } from './suite-run.js';

/** Those of the expected tests that a run did not know at all: renamed, deleted, no longer matched (HL-10). */
export function vanished(expectedIds: readonly string[], run: SuiteRun): string[] {
  const known = new Set(run.tests.map(({ test }) => test.id));
  return expectedIds.filter((id) => !known.has(id));
}
