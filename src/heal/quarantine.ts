import type { DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import type { Progress } from './progress.js';

/** Sets aside the failures whose tests a person has put in quarantine: reported, given no agent, not failing the run (ME-7). */
export async function withoutQuarantined(
  { session, records }: Progress,
  failures: readonly DiagnosedFailure[],
): Promise<DiagnosedFailure[]> {
  const ids = new Set((await session.store.quarantines()).map((one) => one.testId));
  const isIn = ({ failure }: DiagnosedFailure) => failure.scope === 'test' && ids.has(failure.test.id);
  const tests = failures.flatMap((one) =>
    isIn(one) && one.failure.scope === 'test' ? [one.failure.test] : [],
  );
  const known = new Set(records.all().flatMap((one) => (one.verdict === 'quarantined' ? [one.test.id] : [])));
  session.spending.avoided(tests.filter(({ id }) => !known.has(id)).length, 'quarantined');
  for (const test of tests) records.decided(test.id, 'quarantined');
  if (tests.length > 0) session.bus.emit({ type: 'tests.quarantined', tests });
  return failures.filter((one) => !ids.has(failureKey(one.failure)));
}
