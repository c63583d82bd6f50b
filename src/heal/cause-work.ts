import type { Attempt } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import type { Note } from '../model/guard-findings.js';
import type { CauseEnd } from '../model/verdict.js';
import type { KnownFailure } from '../store/store.js';
import type { Change } from '../workspace/change.js';
import type { Deployment } from './attempt/deploy.js';
import type { PreparedPatch, ProposedFix } from './hooks.js';
import type { Retest } from './retest.js';

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
  /** Id of the last attempt in the store, where it stays unfinished until its fix is proven. */
  attemptId: string | null;
  /** The last re-run of its tests; null if there was none, or if its result no longer applies. */
  lastRetest: Retest | null;
  /** Whether the wait after the last attempt is over. */
  waited: boolean;
  /** A fix that is ready to be tried in the project, perhaps together with those of other causes. */
  fix: Fix | null;
  /** The run that has tried its fix together with others, until it is judged. */
  shared: SharedRun | null;
  /** The copy in which its last agent worked: agent programs tie a session to its folder. */
  copy: number | null;
  /** Stops the work, with the reason. */
  readonly stop: AbortController;
  /** Aborts when the work is stopped or the run is interrupted. */
  readonly signal: AbortSignal;
  /** How it ended; null while it goes on. */
  end: CauseEnd | null;
}

/** An attempt whose change the guard lets in. */
export interface Fix extends Pick<Deployment, 'pending' | 'because' | 'isDenied'> {
  /** Null if there is nothing to apply. */
  readonly change: Change | null;
  /** All of an agent's work, if something was left out of it that a person may let in; null otherwise. */
  readonly whole: PreparedPatch | null;
  /** What the guard says about it. */
  readonly notes: readonly Note[];
}

/** A change as it was applied to the project. */
export interface AppliedChange {
  /** Null if there was nothing to apply. */
  readonly change: Change | null;
}

/** A change that is in the project, with the run in which it held together with others. */
export interface SharedRun extends AppliedChange {
  readonly change: Change;
  readonly retest: Retest;
}

/** A judged attempt. */
export interface AttemptResult {
  readonly attempt: Attempt;
  /** Its last re-run; null if nothing was run, or if its result no longer applies. */
  readonly retest: Retest | null;
}
