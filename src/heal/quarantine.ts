import type { DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import type { Progress } from './progress.js';

/** Sets aside the failures whose tests a person has put in quarantine: reported, given no agent, not failing the run (ME-7). */
export async function withoutQuarantined(
  { session }: Progress,
  failures: readonly DiagnosedFailure[],
): Promise<DiagnosedFailure[]> {
  const { bus, store } = session;
  const ids = new Set((await store.quarantines()).map((one) => one.testId));
  const tests = failures.flatMap(({ failure }) =>
    failure.scope === 'test' && ids.has(failure.test.id) ? [failure.test] : [],
  );
  const known = bus.run().tests;
  const count = tests.filter(({ id }) => known.get(id)?.verdict !== 'quarantined').length;
  if (count > 0) bus.emit({ type: 'agent.avoided', reason: 'quarantined', count });
  if (tests.length > 0) bus.emit({ type: 'tests.quarantined', tests });
  return failures.filter((one) => !ids.has(failureKey(one.failure)));
}
