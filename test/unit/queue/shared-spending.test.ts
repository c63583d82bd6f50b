import { expect, it } from 'vitest';
import { createSharedSpending, type SharedSpending } from '../../../src/queue/shared-spending.js';
import type { SpentTogether } from '../../../src/queue/worker-table.js';
import { aCause } from '../../rig/builders.js';

/** The row of a heal, which all workers write. */
function sharedRow() {
  const agents = new Map<string, number | null>();
  const claims: string[] = [];
  const spent = (): SpentTogether => {
    const costs = [...agents.values()].filter((cost) => cost !== null);
    const costUsd = costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0);
    return { agentRuns: agents.size, costUsd };
  };
  const table: SharedSpending['table'] = {
    claimAgent: async ({ id, worker }, { agentRuns, costUsd }) => {
      claims.push(worker ?? '');
      if (agents.size >= agentRuns || (spent().costUsd ?? 0) >= costUsd) return false;
      agents.set(id, null);
      return true;
    },
    agentRestarted: async (id) => void agents.set(id, null),
    agentCost: async (id, usd) => void agents.set(id, usd),
    spent: async () => spent(),
  };
  return { table, claims };
}

function worker(table: SharedSpending['table'], over: Partial<SharedSpending> = {}) {
  const atWork: boolean[] = [];
  const onAgent = (isAtWork: boolean) => void atWork.push(isAtWork);
  const options = { table, worker: () => 'w1', startedAt: 1000, agentRunsOnTest: 0, onAgent, ...over };
  return { spending: createSharedSpending(options), atWork };
}

const limits = { agentRuns: 3, costUsd: 1 };

it('SC-2 HN-9 claims agents for the current row of the worker, and none beyond the shared limit', async () => {
  const { table, claims } = sharedRow();
  let row = 'w1';
  const [one, two] = [worker(table, { worker: () => row }), worker(table, { worker: () => 'w2' })];
  expect(await one.spending.mayStart(limits)).toBe(true);
  // The worker was taken for dead meanwhile and continues with another row.
  row = 'w1-again';
  expect(await one.spending.mayStart(limits)).toBe(true);
  expect(await two.spending.mayStart(limits)).toBe(true);
  expect(await one.spending.mayStart(limits)).toBe(false);
  expect(claims).toEqual(['w1', 'w1-again', 'w2', 'w1-again']);
});

it('SC-2 HN-9 returns what all workers have spent, as of this worker’s last action', async () => {
  const { table } = sharedRow();
  const [one, two] = [worker(table), worker(table)];
  await two.spending.mayStart(limits);
  await two.spending.agentStarted(aCause()).cost(0.4);
  await one.spending.mayStart(limits);
  expect(one.spending.spentFor(aCause(), 5000)).toMatchObject({
    agentRuns: 2,
    costUsd: 0.4,
    elapsedMs: 4000,
  });
  expect(one.spending.totals()).toMatchObject({ agentRuns: 2, costUsd: 0.4 });
  await one.spending.agentStarted(aCause()).cost(0.5);
  await two.spending.agentRestarted();
  expect(two.spending.totals()).toMatchObject({ agentRuns: 3, costUsd: 0.9 });
});

it('SC-2 HN-9 counts the agents that a test had on other machines', async () => {
  const { table } = sharedRow();
  const { spending } = worker(table, { agentRunsOnTest: 2 });
  spending.agentStarted(aCause());
  expect(spending.spentFor(aCause(), 1000).agentRunsOnTest).toBe(3);
});

it('SC-2 HN-9 an agent without a reported cost costs nothing, and is at work until it ends', async () => {
  const { table } = sharedRow();
  const { spending, atWork } = worker(table);
  const agent = spending.agentStarted(aCause());
  await agent.cost(null);
  expect(spending.totals().costUsd).toBeNull();
  expect(atWork).toEqual([true]);
  agent[Symbol.dispose]();
  expect(atWork).toEqual([true, false]);
});
