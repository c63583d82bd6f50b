import type { AttemptEnd } from '../model/attempt.js';
import type { DiagnosedFailure } from '../model/cause.js';
import { haveDifferentRoots, listRootKeys } from '../diagnose/group-keys.js';
import { describeFailure } from '../diagnose/headline.js';

/** The result of a re-run for one failure. */
export interface Observation {
  /** How the test ended in the re-run; `absent` if it no longer exists (HL-10). */
  readonly ended: 'passed' | 'failed' | 'skipped' | 'not-run' | 'absent';
  /** The failure of the test in the re-run, or null. */
  readonly failure: DiagnosedFailure | null;
  /** The suite's own failure that kept the test from running, or null. */
  readonly suiteFailure: DiagnosedFailure | null;
}

/** The judgement of a re-run on an attempt. */
export type Judgement = Extract<
  AttemptEnd,
  { kind: 'green' | 'changed' | 'still-failing' | 'vanished' | 'flaky' }
>;

/**
 * Judges a fix by comparing the re-run with the original failure. Green means that the same test ran and passed: a test that vanished or was
 * skipped is not fixed (HL-10, HN-7), and a fix that keeps the suite from starting is not progress.
 */
export function judgeRerun(before: DiagnosedFailure, now: Observation): Judgement {
  if (now.suiteFailure) {
    if (before.failure.scope === 'suite') return judgeFailure(before, now.suiteFailure);
    return createStillFailing(`the suite no longer runs: ${describeFailure(now.suiteFailure)}`);
  }
  if (now.ended === 'passed') return { kind: 'green', proof: [] };
  if (now.failure) return judgeFailure(before, now.failure);
  if (now.ended === 'absent') return { kind: 'vanished', because: 'the test no longer exists' };
  if (now.ended === 'skipped')
    return { kind: 'vanished', because: 'the test is now skipped, which does not count as healed' };
  return createStillFailing('the test did not run');
}

/** Compares only Playwright's error and step, because other evidence of a failure differs from run to run. */
function judgeFailure(before: DiagnosedFailure, after: DiagnosedFailure): Judgement {
  const headline = describeFailure(after);
  if (before.signature !== after.signature)
    return { kind: 'changed', because: `the test now fails with a different error: ${headline}` };
  return createStillFailing(
    haveDifferentRoots(listRootKeys(before), listRootKeys(after))
      ? `the test still fails, now because of: ${headline}; the change may have been needed, but was not enough`
      : 'the same error came back',
  );
}

function createStillFailing(because: string): Judgement {
  return { kind: 'still-failing', because };
}

/** True if a test passed and the suite around it did not fail. */
export function isGreen({ ended, suiteFailure }: Observation): boolean {
  return ended === 'passed' && suiteFailure === null;
}
