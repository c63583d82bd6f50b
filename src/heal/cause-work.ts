import type { Attempt } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import type { CauseEnd } from '../model/verdict.js';
import type { KnownFailure } from '../store/store.js';
import type { Trial } from './attempt/trial.js';
import type { ProposedFix } from './hooks.js';

/** A cause, and what has been tried on it: the one state that the loop changes. */
export interface CauseWork {
  /** As far as it is known now: the tests that no other fix has healed, and what broke them. */
  cause: Cause;
  /** What earlier runs know about it. */
  readonly known: KnownFailure;
  /** The attempts that led to its error, whose changes are in the tree (HL-3). */
  readonly chain: readonly Attempt[];
  /** Signatures that the same tests had earlier in this run; coming back to one of them is not progress (HN-9). */
  readonly earlier: ReadonlySet<string>;
  /** The fixes that need no agent and have not been tried yet. */
  readonly proposals: AsyncIterator<ProposedFix>;
  /** Whether there may be another one of these. */
  mayPropose: boolean;
  attempts: readonly Attempt[];
  /** The newest attempt. */
  trial: Trial | null;
  /** Whether the wait after the last attempt is over. */
  waited: boolean;
  /** The copy in which its last agent worked: agent programs tie a session to its folder. */
  copy: number | null;
  /** Stops the work, with the reason. */
  readonly stop: AbortController;
  /** Aborts when the work is stopped or the run is interrupted. */
  readonly signal: AbortSignal;
  /** How it ended; null while it goes on. */
  end: CauseEnd | null;
}
