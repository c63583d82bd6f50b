import type { Attempt } from '../../core/attempt.js';
import type { Cause } from '../../core/cause.js';
import type { Conclusion } from '../../core/policy.js';
import type { JobResult } from '../../queue/messages.js';
import type { SpentTogether } from '../../queue/worker-table.js';
import type { KnownFailure } from '../../store/store.js';
import type { Session } from '../session.js';

/** A cause for a worker, and what was tried with it. */
export interface SentCause {
  readonly cause: Cause;
  readonly previous: readonly Attempt[];
  readonly known: KnownFailure;
  /** Whether agents may be started still. */
  readonly mayGoOn: () => boolean;
}

/** What came back. */
export type FromWorkers =
  Extract<JobResult, { kind: 'tried' }> | { readonly kind: 'ended'; readonly conclusion: Conclusion };

/** The workers of a run, on whatever machines they are. */
export interface Workers {
  /**
   * Puts a cause into the queue, with the tree as it is now: who calls it holds that. Gives what waits for the result, which the session's
   * signal ends. Neither rejects for what happens elsewhere.
   */
  send(session: Session, sent: SentCause): Promise<() => Promise<FromWorkers>>;
  /** What the agents of all have come to, as it was known last. */
  spent(): SpentTogether;
  /** Ends it: what was done is kept for `resume` where the run is not over. */
  close(isOver: boolean): Promise<void>;
}
