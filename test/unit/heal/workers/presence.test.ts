import { expect, it } from 'vitest';
import type { Checked } from '../../../../src/heal/check-request.js';
import type { HealedHere } from '../../../../src/heal/workers/healed-here.js';
import { createPresence } from '../../../../src/heal/workers/presence.js';
import type { WorkerRow, WorkerTable } from '../../../../src/queue/worker-table.js';
import { someSettings } from '../../../rig/builders.js';

/** The presence of a worker, and the rows of workers, which a test may clear. */
async function present() {
  const rows = new Map<string, WorkerRow>();
  const table = {
    register: async (row: WorkerRow) => void rows.set(row.id, row),
    beat: async (row: WorkerRow) => {
      const isThere = rows.has(row.id);
      if (isThere) rows.set(row.id, row);
      return isThere;
    },
    remove: async ({ id }: Pick<WorkerRow, 'id'>) => rows.delete(id),
  };
  const settings = someSettings({ queue: { leaseMs: 60_000 } });
  const presence = await createPresence(table as unknown as WorkerTable, {
    here: { queue: 'causes-1', commit: 'c0ffee', version: '1' } as unknown as HealedHere,
    checked: { asWritten: settings, settings } as unknown as Checked,
  });
  return { rows, presence };
}

it('SC-2 a worker whose row is gone has lost its cause, and registers once again despite concurrent heartbeats', async () => {
  const { rows, presence } = await present();
  const lost = presence.begin('job');
  await presence.tell({ state: 'healing', causeId: 'c1' });
  expect([...rows.values()]).toMatchObject([{ state: 'healing', causeId: 'c1', jobId: 'job', beat: 1 }]);
  expect(lost.aborted).toBe(false);
  rows.clear();
  await Promise.all([presence.tell({ state: 'agent' }), presence.tell({ state: 'healing' })]);
  expect(lost.aborted).toBe(true);
  expect([...rows.values()]).toMatchObject([{ id: presence.id(), causeId: null, jobId: null }]);
  expect(presence.begin('other').aborted).toBe(false);
  await presence[Symbol.asyncDispose]();
  expect(rows.size).toBe(0);
});
