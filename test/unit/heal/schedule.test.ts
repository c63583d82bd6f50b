import { expect, it } from 'vitest';
import { Agents, PriorityLock } from '../../../src/heal/schedule.js';
import { simulatedSchedule } from '../../rig/simulated-schedule.js';

it('SC-3 gives the working tree to the most useful task, then to the longest waiting', async () => {
  const tree = new PriorityLock();
  await tree.acquire(() => 0);
  const order: string[] = [];
  let rank = 5;
  const tasks = [
    ['search', () => 3],
    ['first patch', () => 1],
    ['second patch', () => 1],
    ['more useful by now', () => rank],
  ] as const;
  const waiting = tasks.map(async ([name, of]) => {
    await tree.acquire(of);
    order.push(name);
    tree.release();
  });
  rank = 0;
  tree.release();
  await Promise.all(waiting);
  expect(order).toEqual(['more useful by now', 'first patch', 'second patch', 'search']);
  expect(tree.isHeld).toBe(false);
});

it('SC-3 starts agents in order, each in its last copy if free, but none for a stopped cause', async () => {
  const agents = new Agents(2);
  const { signal } = new AbortController();
  expect(await agents.acquireCopy(1, signal)).toBe(1);
  expect(await agents.acquireCopy(1, signal)).toBe(0);
  const stop = new AbortController();
  const stopped = agents.acquireCopy(null, stop.signal);
  const next = agents.acquireCopy(0, signal);
  stop.abort();
  expect(await stopped).toBeNull();
  agents.releaseCopy(1);
  expect(await next).toBe(1);
  expect(agents.atWork).toBe(2);
});

const seeds = Array.from({ length: 12 }, (_, at) => at + 1);

it.each(seeds)(
  'SC-3 HN-2 HN-9 causes end, one writer has the tree, and limits hold (seed %d)',
  async (seed) => {
    const { report, fixes, decided, ...run } = await simulatedSchedule(seed);
    expect(run.most).toBeLessThanOrEqual(run.parallel);
    expect(run.started).toBeLessThanOrEqual(run.agentRuns);
    expect(report.causes.filter(({ verdict }) => verdict === null)).toEqual([]);
    expect(decided.toSorted()).toEqual(expect.arrayContaining([...fixes].toSorted()));
  },
);
