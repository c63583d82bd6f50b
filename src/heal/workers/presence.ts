import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import process from 'node:process';
import { Mutex } from 'async-mutex';
import { systemClock } from '../../clock.js';
import { configDigest } from '../../queue/queue-name.js';
import type { WorkerRow, WorkerTable } from '../../queue/worker-table.js';
import type { WorkerParts } from './take-job.js';

/** A worker's row in the table, and the heartbeats that keep it there. */
export interface Presence extends AsyncDisposable {
  readonly name: string;
  id(): string;
  /** Returns a signal that aborts when the cause is taken away: the worker was presumed dead, or the result is no longer wanted. */
  begin(jobId: string): AbortSignal;
  tell(over: Partial<Pick<WorkerRow, 'state' | 'causeId' | 'jobId'>>): Promise<void>;
}

export async function createPresence(
  table: WorkerTable,
  { here, checked }: Pick<WorkerParts, 'here' | 'checked'>,
): Promise<Presence> {
  const name = `${hostname()}-${process.pid}`;
  const { queue, commit, version } = here;
  let row: WorkerRow = {
    id: randomUUID(),
    name,
    queue,
    commit,
    version,
    config: configDigest(checked.asWritten),
    state: 'waiting',
    causeId: null,
    jobId: null,
    beat: 0,
  };
  await table.register(row);
  let lost = new AbortController();
  const stop = new AbortController();
  const beat = async () => {
    row = { ...row, beat: row.beat + 1 };
    if (await table.beat(row)) return;
    lost.abort('the cause was taken back');
    row = { ...row, id: randomUUID(), causeId: null, jobId: null };
    await table.register(row);
  };
  // Serialized, so that a missing row is replaced only once.
  const signs = new Mutex();
  // If the server is unreachable for a short time, the next heartbeat makes up for it; after that, the lease decides.
  const sign = () => signs.runExclusive(beat).catch(() => undefined);
  const beating = (async () => {
    while (!stop.signal.aborted) {
      await systemClock.sleep(checked.settings.queue.leaseMs / 5, stop.signal);
      if (!stop.signal.aborted) await sign();
    }
  })();
  return {
    name,
    id: () => row.id,
    begin: (jobId) => {
      lost = new AbortController();
      row = { ...row, jobId };
      return lost.signal;
    },
    tell: async (over) => {
      row = { ...row, ...over };
      await sign();
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await beating;
      await table.remove({ id: row.id }).catch(() => false);
    },
  };
}
