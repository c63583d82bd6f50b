import type { Attempt } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import type { Note, Violation } from '../model/guard-findings.js';
import type { ToChallenge } from '../guard/findings.js';
import type { ProofTest } from './progress.js';
import type { Session } from './session.js';

/** A fix that is in the project, and that no run has contradicted. */
export interface ChallengedFix extends ToChallenge {
  readonly cause: Cause;
  /** The attempt that turned its tests green. */
  readonly attempt: Attempt;
  /** The attempts whose changes together are the fix. */
  readonly parts: readonly Attempt[];
  /** Those of its tests that are run without it, too. */
  readonly tests: readonly ProofTest[];
  /** What earlier challenges ask of a person. */
  readonly asked: readonly Note[];
}

/** What a challenge says about a fix. `enter` answers what earlier challenges have asked. */
export type Answer = { readonly causeId: string; readonly usage?: Attempt['usage'] } & (
  | { readonly kind: 'tell' | 'ask'; readonly notes: readonly Note[] }
  | { readonly kind: 'reject'; readonly violations: readonly [Violation, ...Violation[]] }
  | { readonly kind: 'enter' }
);

/** Challenges the fixes of a proof together, so that they can share a run (HN-3). A fix without an answer is accepted. */
export type Challenge = (session: Session, fixes: readonly ChallengedFix[]) => Promise<readonly Answer[]>;
