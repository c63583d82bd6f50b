import type { Clock } from '../../clock.js';
import type { Coordinator, WorkerTable } from '../../queue/worker-table.js';

/** Says whether a worker that finds no cause waits on; else why not, in words. */
export interface Idle {
  /** It had a cause. */
  busy(): void;
  /** Asked while it waits; null where it waits on. */
  overWhy(): Promise<string | null>;
}

/** What a worker's waiting is counted by. */
export interface IdleParts {
  readonly table: Pick<WorkerTable, 'coordinator'>;
  readonly clock: Clock;
  /** In milliseconds; null for ever. */
  readonly timeoutMs: number | null;
}

/**
 * Counts how long nobody was there who could send a cause. While a heal of this tree gives signs of life it may send one, also after a long
 * search for the change to blame; when it is over, none comes any more.
 */
export function createIdle({ table, clock, timeoutMs }: IdleParts): Idle {
  let since = clock.now();
  let seen: Coordinator | null = null;
  return {
    busy: () => {
      since = clock.now();
    },
    overWhy: async () => {
      if (timeoutMs === null) return null;
      const now = await table.coordinator();
      if (seen !== null && now === null) return 'the heal whose causes it waited for is over';
      if (now !== null && now.beat !== seen?.beat) since = clock.now();
      seen = now;
      return clock.now() - since >= timeoutMs ? 'no cause for so long' : null;
    },
  };
}
