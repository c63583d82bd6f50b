import { failureKey } from '../core/failure.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Progress } from './progress.js';

/** The key of the suite's own failure among the ids of tests. */
export const suiteKey = failureKey({ scope: 'suite', errors: [], stderr: '' });

interface RedRequest {
  ids: readonly string[];
  /** Runs the whole selection rather than the individual ids. */
  all?: boolean;
  of: ReadonlySet<string>;
  purpose?: 'regression' | 'proof';
}

/** What a run shows of the tests that were green. */
interface Seen {
  readonly red: ReadonlySet<string>;
  /** Null if nothing could be run. */
  readonly run: SuiteRun | null;
}

/**
 * Returns which of the tests are red now; all of them if the suite cannot run. The suite itself may fail although its tests pass (a
 * worker's teardown, a global teardown); whether it still does, only the whole selection shows.
 */
export async function redAmong(
  { session, rerunIds }: Progress,
  { ids, all = false, of, purpose = 'regression' }: RedRequest,
): Promise<Seen> {
  if ((await session.prepare()) !== null) return { red: of, run: null };
  const again = [...new Set(ids.flatMap((id) => rerunIds[id] ?? [id]))];
  const isWhole = all || ids.includes(suiteKey);
  const run = await session.runAgain({ ids: isWhole ? null : again, purpose, causeId: null });
  if (run.tests.length === 0) return { red: of, run };
  const asked = new Set(ids);
  const tests = run.tests.filter(
    ({ test, outcome }) => asked.has(test.id) && outcome !== 'expected' && outcome !== 'flaky',
  );
  const red = [...tests.map(({ test }) => test.id), ...(run.suiteFailure ? [suiteKey] : [])];
  return { red: new Set(red.filter((id) => of.has(id))), run };
}
