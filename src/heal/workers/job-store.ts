import { isKept } from '../../core/attempt.js';
import { noStore, type RunStore } from '../../run/run-store.js';

/** The store as a worker sees it: that of a run on another machine. */
export interface JobStore extends RunStore {
  /** Returns the id of the attempt whose fix holds here and which the coordinator will decide; null if there is none. */
  openAttempt(): string | null;
}

/**
 * Wraps the store of the coordinator's run. Whoever makes an attempt stores it before its agent starts, so that an agent whose worker
 * dies is still counted. Everything else is up to the coordinator, including a fix that holds: it counts when the coordinator joins it.
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
