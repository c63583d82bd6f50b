import type { Cause, DiagnosedFailure } from './core/cause.js';
import { failureKey, type TestRef } from './core/failure.js';
import type { Progress } from './progress.js';
import type { Trial } from './trial.js';

/** What a proven fix leaves red. */
export interface LeftRed {
  /** Failures of the cause's own tests, with the fix. */
  readonly red: readonly DiagnosedFailure[];
  /** Failures of other tests that ran beside them. */
  readonly others: readonly DiagnosedFailure[];
}

/** The proof has run all tests of the cause: each has an ending of its own, and those that are red with the fix are failures (HL-6). */
export function settleProven(
  { session, board }: Progress,
  cause: Cause,
  { candidates, others, runs }: Trial,
): LeftRed {
  // Tests that had not run because of this cause (of a serial group, or behind a set-up) run now.
  for (const run of runs) board.saw(run);
  const red: DiagnosedFailure[] = [];
  const flaky: TestRef[] = [];
  for (const { failure, ended, now } of candidates) {
    const key = failureKey(failure.failure);
    const isLead = failure === cause.lead;
    if (ended === 'red' || ended === 'unsteady') {
      if (now) red.push(now);
      continue;
    }
    if (!isLead) session.spending.avoided(1, ended === 'flaky' ? 'flaky' : 'shared-cause');
    board.decided(key, ended === 'flaky' ? 'flaky' : 'healed', { sharedFix: !isLead && ended !== 'flaky' });
    if (ended === 'flaky' && failure.failure.scope === 'test') flaky.push(failure.failure.test);
  }
  if (flaky.length > 0) session.bus.emit({ type: 'cause.flaky', tests: flaky, causeId: cause.id });
  return { red, others };
}
