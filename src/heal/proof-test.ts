import type { DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import type { ProofOutcome, ProofStep, TestProof } from '../core/proof.js';
import type { Progress } from './progress.js';

/** A test that is green with a fix, and its progress through the proof (HN-5). */
export interface ProofTest {
  readonly failure: DiagnosedFailure;
  readonly causeId: string;
  /** Whether the fix was made for this test; if a shared run contradicts it, its cause is proven alone. */
  readonly isLead: boolean;
  /** Whether it takes part in every run of the proof rather than in one. */
  readonly isProven: boolean;
  readonly steps: ProofStep[];
  /** Null while it is still taking part. */
  ended: ProofOutcome | null;
  /** Set if it was red with the fix from the start, so that its failure has a cause of its own. */
  readonly isOther?: true;
  /** The failure it had when it was red with the fix, or null. */
  now: DiagnosedFailure | null;
}

/** Creates the proof state of a test that was red before the fix and was green `greens` times with it. */
export function proofTest(
  { session, lastRed }: Progress,
  of: Pick<ProofTest, 'failure' | 'causeId' | 'isLead' | 'isProven'>,
  greens: number,
): ProofTest {
  const key = failureKey(of.failure.failure);
  const seen = lastRed.get(key)?.times ?? 0;
  // Earlier failures no longer count for what it shows from now on.
  if (greens > 0) lastRed.delete(key);
  const reds = Math.max(seen, 1 + session.settings.verify.confirm);
  const steps = [...Array<ProofStep>(reds).fill('red'), ...Array<ProofStep>(greens).fill('green')];
  return { ...of, steps, ended: null, now: null };
}

/** Returns the proof of each test; tests that are still taking part count as proven. */
export function testProofs(tests: readonly ProofTest[]): TestProof[] {
  return tests.map(({ failure, steps, ended }) => ({
    id: failureKey(failure.failure),
    proof: [...steps],
    ended: ended ?? 'proven',
  }));
}
