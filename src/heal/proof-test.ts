import type { DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import type { ProofEnding, ProofStep, TestProof } from '../core/proof.js';
import type { Progress } from './progress.js';

/** A test that is green with a fix, on its way through the proof (HN-5). */
export interface ProofTest {
  readonly failure: DiagnosedFailure;
  readonly causeId: string;
  /** The fix was made for it: where it contradicts, its cause is proven alone. */
  readonly isLead: boolean;
  /** Takes part in every run of the proof, rather than in one. */
  readonly isProven: boolean;
  readonly steps: ProofStep[];
  /** Null while it takes part. */
  ended: ProofEnding | null;
  /** It was red with the fix from the start, and its failure has a cause of its own. */
  readonly isOther?: true;
  /** What it failed with when it was red with the fix. */
  now: DiagnosedFailure | null;
}

/** A test that was red until now, and was green so often with the fix. */
export function proofTest(
  { session, lastRed }: Progress,
  of: Pick<ProofTest, 'failure' | 'causeId' | 'isLead' | 'isProven'>,
  greens: number,
): ProofTest {
  const key = failureKey(of.failure.failure);
  const seen = lastRed.get(key)?.times ?? 0;
  // What it shows from now on is not what it showed before.
  if (greens > 0) lastRed.delete(key);
  const reds = Math.max(seen, 1 + session.settings.verify.confirm);
  const steps = [...Array<ProofStep>(reds).fill('red'), ...Array<ProofStep>(greens).fill('green')];
  return { ...of, steps, ended: null, now: null };
}

/** What the proof says of each test; of those that take part still, the whole of it. */
export function testProofs(tests: readonly ProofTest[]): TestProof[] {
  return tests.map(({ failure, steps, ended }) => ({
    id: failureKey(failure.failure),
    proof: [...steps],
    ended: ended ?? 'proven',
  }));
}
