import type { Attempt } from '../../core/attempt.js';
import type { Cause } from '../../core/cause.js';
import type { CauseEnd } from '../../core/policy.js';
import type { JobResult } from '../../queue/messages.js';
import type { SpentTogether } from '../../queue/worker-table.js';
import type { KnownFailure } from '../../store/store.js';
import type { Session } from '../session.js';

/** A cause for a worker, and what has been tried for it. */
export interface SentCause {
  readonly cause: Cause;
  readonly previous: readonly Attempt[];
  readonly known: KnownFailure;
  /** Whether more agents may be started. */
  readonly mayGoOn: () => boolean;
}

/** What a worker sent back, or the end of the cause without a result. */
export type FromWorkers =
  Extract<JobResult, { kind: 'tried' }> | { readonly kind: 'ended'; readonly end: CauseEnd };

/** The workers of a run, on whatever machines they are. */
export interface Workers {
  /**
   * Queues a cause with the tree in its current state, whose lock the caller holds. Returns a function that waits for the result; the
   * session's signal ends the wait. Neither promise rejects because of what happens on other machines.
   */
  send(session: Session, sent: SentCause): Promise<() => Promise<FromWorkers>>;
  /** Returns the last known total of what the agents on all machines have spent. */
  spent(): SpentTogether;
  /** Closes the connection; if the run is not over, what was done is kept for `resume`. */
  close(isOver: boolean): Promise<void>;
}
