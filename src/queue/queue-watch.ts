import type { Clock } from '../clock.js';
import type { Queue } from './open-queue.js';
import type { WorkerRow, WorkerTable } from './worker-table.js';

/** What a watch observes, and whom it informs. */
export interface Watched {
  readonly queue: Queue;
  readonly table: WorkerTable;
  readonly clock: Clock;
  /** How long a worker may send no heartbeat, in milliseconds. */
  readonly leaseMs: number;
  /** Called with the workers after each check. */
  readonly onWorkers: (workers: readonly WorkerRow[]) => void;
  /** Called when a cause is given to another worker. */
  readonly onLost: (jobId: string, worker: string | null) => void;
}

/** A beat, and when it was first seen. */
interface Seen {
  readonly beat: number;
  readonly at: number;
}

/**
 * Watches the workers for the coordinator. A worker that sends no heartbeat for the length of a lease counts as dead, and its cause goes to
 * another. Beats are counted, not dated, so the machines' clocks need not agree. Once pg-boss can renew leases itself (12, on Node
 * 22), remove this.
 */
export function createWatch({ queue, table, clock, leaseMs, onWorkers, onLost }: Watched) {
  const beats = new Map<string, Seen>();
  /** Taken jobs that no live worker claims, and since when. */
  const orphans = new Map<string, number>();
  const isOver = (at: number) => clock.now() - at >= leaseMs;

  async function lose(worker: WorkerRow): Promise<boolean> {
    // Returns false if it has sent a heartbeat meanwhile.
    if (!(await table.remove({ id: worker.id, beat: worker.beat }))) return false;
    beats.delete(worker.id);
    if (worker.queue !== queue.name || worker.jobId === null) return true;
    await queue.giveBack(worker.jobId);
    onLost(worker.jobId, worker.name);
    return true;
  }

  return {
    /** Checks all workers, and returns those that are alive. */
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
    /** Restarts all leases after an outage, during which no heartbeat could be sent or seen. */
    wasBlind(): void {
      beats.clear();
      orphans.clear();
    },
    /** Handles a taken job. If its worker died before it could record the job, the job is given to another as well. */
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
