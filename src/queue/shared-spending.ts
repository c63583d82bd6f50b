import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createSpending, type Spending } from '../run/spending.js';
import type { WorkerTable } from './worker-table.js';

/** What a worker's spending is counted with. */
export interface SharedSpending {
  readonly table: Pick<WorkerTable, 'claimAgent' | 'agentRestarted' | 'agentCost' | 'spent'>;
  /** The worker's row. */
  readonly worker: () => string;
  /** When the run began, in milliseconds since the epoch, by this machine's clock. */
  readonly startedAt: number;
  /** How many agents on other machines have worked on the cause's tests. */
  readonly agentRunsOnTest: number;
  /** Called when an agent starts and when it ends. */
  readonly onAgent: (isAtWork: boolean) => void;
}

/** How often to check whether agents on other machines have ended. */
const askAgainMs = 1000;

/** Creates the spending of a run whose agents work on several machines, with limits that hold for all of them together. */
export function createSharedSpending(options: SharedSpending): Spending {
  const { table, worker, startedAt, agentRunsOnTest, onAgent } = options;
  const own = createSpending(startedAt);
  let claimed = '';
  let together = { agentRuns: 0, costUsd: null as number | null };
  const refresh = async () => void (together = await table.spent());
  return {
    ...own,
    mayStart: async (limits) => {
      claimed = randomUUID();
      const may = await table.claimAgent({ id: claimed, worker: worker() }, limits);
      await refresh();
      return may;
    },
    agentStarted: (cause) => {
      const working = own.agentStarted(cause);
      const id = claimed;
      onAgent(true);
      return {
        cost: async (usd) => {
          await working.cost(usd);
          if (usd !== null) await table.agentCost(id, usd);
          await refresh();
        },
        [Symbol.dispose]: () => {
          working[Symbol.dispose]();
          onAgent(false);
        },
      };
    },
    agentRestarted: async () => {
      await own.agentRestarted();
      await table.agentRestarted(randomUUID());
      await refresh();
    },
    nextEnd: () => delay(askAgainMs),
    spentFor: (cause, now) => {
      const spent = own.spentFor(cause, now);
      const onTest = spent.agentRunsOnTest + agentRunsOnTest;
      return {
        ...spent,
        agentRuns: together.agentRuns,
        costUsd: together.costUsd ?? 0,
        agentRunsOnTest: onTest,
      };
    },
    totals: () => ({ ...own.totals(), ...together }),
  };
}
