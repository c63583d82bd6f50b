import { expect, it } from 'vitest';
import type { Queue } from '../../../src/queue/open-queue.js';
import { createWatch } from '../../../src/queue/queue-watch.js';
import type { WorkerRow, WorkerTable } from '../../../src/queue/worker-table.js';
import { aWorker } from '../../rig/builders.js';
import { virtualClock } from '../../rig/virtual-clock.js';

const leaseMs = 1000;

/** A watch over one worker that sends no heartbeat. */
function watching(over: Partial<WorkerRow> = {}) {
  const clock = virtualClock();
  const silent = aWorker({ state: 'agent', causeId: 'c1', jobId: 'job', beat: 3, ...over });
  const given: string[] = [];
  const lost: (string | null)[] = [];
  const queue = { name: 'causes-1', giveBack: async (id: string) => void given.push(id) } as Queue;
  const table = { workers: async () => [silent], remove: async () => true } as unknown as WorkerTable;
  const onLost = (_: string, worker: string | null) => void lost.push(worker);
  const watch = createWatch({ queue, table, clock, leaseMs, onWorkers: () => undefined, onLost });
  return { watch, clock, given, lost };
}

it('SC-2 starts leases anew after a time without a view of the queue, for workers and for causes without one', async () => {
  const { watch, clock, given, lost } = watching();
  await watch.workers();
  await watch.taken('orphan', []);
  clock.advance(10 * leaseMs);
  watch.wasBlind();
  expect(await watch.workers()).toHaveLength(1);
  await watch.taken('orphan', []);
  expect(given).toEqual([]);
  clock.advance(leaseMs);
  expect(await watch.workers()).toEqual([]);
  await watch.taken('orphan', []);
  expect(given).toEqual(['job', 'orphan']);
  expect(lost).toEqual(['host-1', null]);
});

it('SC-2 drops a silent worker of another commit from the list, and leaves its cause to its own coordinator', async () => {
  const { watch, clock, given } = watching({ queue: 'causes-2' });
  await watch.workers();
  clock.advance(leaseMs);
  expect(await watch.workers()).toEqual([]);
  expect(given).toEqual([]);
});
