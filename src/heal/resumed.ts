import { type KeptFix, keptFixes } from './kept-fixes.js';
import type { SavedProgress } from './save-progress.js';
import type { SeenTest } from '../event.js';
import { noRun, type SuiteRun } from '../playwright/suite-run.js';
import type { ShardCount } from '../playwright/reports/check-reports.js';
import type { SuiteRuns, Watching } from './suite-runs.js';
import type { UnfinishedRun } from '../run/unfinished-run.js';

/** An unfinished run, as the run that resumes it sees it. */
export interface Resumed {
  readonly runId: string;
  /** The tests that it had finished. */
  readonly carried: readonly SeenTest[];
  /** The tests that it had not finished; null if it never learned its tests, so that its whole selection runs. */
  readonly open: readonly SeenTest[] | null;
  /** The shards it was healing, if any. */
  readonly shards?: ShardCount;
  /** Its fixes that were green but not proven yet, by signature. */
  readonly kept: ReadonlyMap<string, KeptFix>;
  /** Runs only what it had not finished. */
  firstRun(suites: SuiteRuns, stdout: number, watching: Watching): Promise<SuiteRun>;
}

/** Reads how far a stored run got. If it was killed before it knew its tests, everything runs again, with the counts it stored. */
export async function resumedFrom(run: UnfinishedRun, runDir: string): Promise<Resumed> {
  const progress = run.progress as SavedProgress | null;
  const isWhole = progress === null || progress.suiteOpen;
  const tests = isWhole ? [] : progress.tests;
  const ids = [...new Set(tests.filter((one) => one.open).flatMap((one) => one.rerunIds))];
  const { shards } = run.request as { shards?: ShardCount };
  return {
    runId: run.runId,
    ...(shards ? { shards } : {}),
    kept: await keptFixes(runDir),
    carried: tests.flatMap((one) => (one.open ? [] : [one.test])),
    open: isWhole ? null : tests.flatMap((one) => (one.open ? [one.test] : [])),
    firstRun: (suites, stdout, watching) => {
      if (isWhole) return suites.first(stdout, watching);
      if (ids.length === 0) return Promise.resolve(noRun('passed'));
      return suites.again({ ids, purpose: 'first', causeId: null, watching });
    },
  };
}

/** Returns the unfinished tests that no longer exist, as failed: a test that is gone is not fixed (HL-10). */
export function goneTests({ open }: Resumed, first: SuiteRun): SeenTest[] {
  if (first.suiteFailure !== null || first.status === 'interrupted') return [];
  const there = new Set(first.tests.map(({ test }) => test.id));
  return (open ?? []).flatMap((test) => (there.has(test.id) ? [] : [{ ...test, verdict: 'failed' }]));
}
