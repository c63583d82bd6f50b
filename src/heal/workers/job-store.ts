import { isKept } from '../../core/attempt.js';
import { noStore, type RunStore } from '../../run/run-store.js';

/** What a worker writes into the store of a run that is another machine's. */
export interface JobStore extends RunStore {
  /** The attempt whose fix holds here, which the coordinator decides; null where there is none. */
  openAttempt(): string | null;
}

/**
 * Over the store of the coordinator's run: attempts are written down by who makes them, before their agents start, so that an agent whose
 * worker dies is not lost count of. All else is the coordinator's, and so is a fix that holds: it counts when it is joined.
 */
export function jobStore(store: RunStore): JobStore {
  let open: string | null = null;
  return {
    ...noStore,
    attemptStarted: (start) => store.attemptStarted(start),
    attemptFinished: async (id, attempt) => {
      if (isKept(attempt)) open = id;
      else await store.attemptFinished(id, attempt);
    },
    openAttempt: () => open,
  };
}
