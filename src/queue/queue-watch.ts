import type { Clock } from '../clock.js';
import type { Queue } from './open-queue.js';
import type { WorkerRow, WorkerTable } from './worker-table.js';

/** What there is to look at. */
export interface Watched {
  readonly queue: Queue;
  readonly table: WorkerTable;
  readonly clock: Clock;
  /** How long a worker may give no sign, in milliseconds. */
  readonly leaseMs: number;
  /** Told of the workers, each time that it looked. */
  readonly onWorkers: (workers: readonly WorkerRow[]) => void;
  /** Told when a cause goes to another worker. */
  readonly onLost: (jobId: string, worker: string | null) => void;
}

/** When something was first seen as it is. */
interface Seen {
  readonly beat: number;
  readonly at: number;
}

/**
 * Looks after workers, from the coordinator: one that gave no sign for the length of a lease is taken for dead, and its cause goes to another.
 * Signs are counted, not dated: the machines' clocks need not agree. Where pg-boss can renew its own leases (12, on Node 22), this goes.
 */
export function createWatch({ queue, table, clock, leaseMs, onWorkers, onLost }: Watched) {
  const beats = new Map<string, Seen>();
  /** Jobs that are taken by nobody who is there. */
  const orphans = new Map<string, number>();
  const isOver = (at: number) => clock.now() - at >= leaseMs;

  async function lose(worker: WorkerRow): Promise<boolean> {
    // Not where it has given a sign meanwhile.
    if (!(await table.remove({ id: worker.id, beat: worker.beat }))) return false;
    beats.delete(worker.id);
    if (worker.queue !== queue.name || worker.jobId === null) return true;
    await queue.giveBack(worker.jobId);
    onLost(worker.jobId, worker.name);
    return true;
  }

  return {
    /** Looks at all workers; gives those that are alive. */
    async workers(): Promise<readonly WorkerRow[]> {
      const alive: WorkerRow[] = [];
      for (const worker of await table.workers()) {
        const seen = beats.get(worker.id);
        if (seen?.beat !== worker.beat) beats.set(worker.id, { beat: worker.beat, at: clock.now() });
        const isSilent = seen?.beat === worker.beat && isOver(seen.at);
        if (!(isSilent && (await lose(worker)))) alive.push(worker);
      }
      onWorkers(alive);
      return alive;
    },
    /** Nothing could be seen for a while, nor could a sign be given: leases begin anew. */
    wasBlind(): void {
      beats.clear();
      orphans.clear();
    },
    /** A job that is taken, by a worker that died before it could say so: that is given to another as well. */
    async taken(jobId: string, alive: readonly WorkerRow[]): Promise<void> {
      if (alive.some((worker) => worker.jobId === jobId)) {
        orphans.delete(jobId);
        return;
      }
      const since = orphans.get(jobId) ?? clock.now();
      orphans.set(jobId, since);
      if (!isOver(since)) return;
      orphans.delete(jobId);
      await queue.giveBack(jobId);
      onLost(jobId, null);
    },
  };
}
