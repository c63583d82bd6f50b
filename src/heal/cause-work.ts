import type { Attempt } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import type { CauseEnd } from '../model/verdict.js';
import type { FailureHistory } from '../store/store.js';
import type { Trial } from './attempt/trial.js';
import type { ProposedFix } from './hooks.js';

/** The mutable state of healing one cause. */
export interface CauseWork {
  /** The cause, with the tests that no other fix has healed, and the change that broke them once it is known. */
  cause: Cause;
  /** The history of this failure in earlier runs. */
  readonly memory: FailureHistory;
  /** The attempts that revealed this error; their changes are in the tree (HL-3). */
  readonly revealingAttempts: readonly Attempt[];
  /** Signatures that the same tests had earlier in this run; returning to one of them is not progress (HN-9). */
  readonly earlierSignatures: ReadonlySet<string>;
  /** The untried fixes that need no agent. */
  readonly proposals: AsyncIterator<ProposedFix>;
  /** True until `proposals` ends. */
  hasProposals: boolean;
  attempts: readonly Attempt[];
  /** The newest attempt. */
  trial: Trial | null;
  /** True once the wait after the last attempt is over. */
  hasWaited: boolean;
  /** The copy in which the last agent worked, because agent programs tie a session to its folder. */
  copy: number | null;
  /** Stops the work, with the reason. */
  readonly stop: AbortController;
  /** Aborts when the work is stopped or the run is interrupted. */
  readonly signal: AbortSignal;
  /** How healing ended; null while it continues. */
  end: CauseEnd | null;
}
