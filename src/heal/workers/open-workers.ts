import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import process from 'node:process';
import { type Clock, systemClock } from '../../clock.js';
import type { SuiteRun } from '../../playwright/suite-run.js';
import type { Problem } from '../../problem.js';
import { openQueue, type Queue } from '../../queue/open-queue.js';
import { isOfDatabase, type Patience, patient } from '../../queue/patient.js';
import { type Coordinator, type WorkerTable, workerTable } from '../../queue/worker-table.js';
import { err, ok, type Result } from '../../result.js';
import { openStore } from '../../store/open-store.js';
import type { Database } from '../../store/tables.js';
import type { Opened } from '../open-run.js';
import { createDispatch } from './dispatch.js';
import type { HealedHere } from './healed-here.js';
import { storeProblem } from './store-problem.js';
import type { Workers } from './workers.js';

/** What is healed in this checkout, and how to wait for its store. */
export interface Queued {
  readonly here: HealedHere;
  readonly patience: Patience;
}

/** Opens the queue of a run's causes, as its only sender. */
export async function openWorkers(
  opened: Opened,
  first: SuiteRun,
  { here, patience }: Queued,
): Promise<Result<Workers, Problem>> {
  const { settings, cwd, folder } = opened;
  const store = await openStore(settings.store, cwd);
  if (!store.ok) return store;
  const db = store.value;
  const table = workerTable(db, settings.project, here.queue);
  const who = `${hostname()}, process ${process.pid}, run ${folder.runId} ${randomUUID()}`;
  const queue = await queueOf(db, { table: patient(table, patience), who, name: here.queue, opened });
  if (!queue.ok) {
    await db.destroy();
    return queue;
  }
  const dispatch = createDispatch({ opened, first, here, queue: queue.value, table, who, patience });
  return ok({
    ...dispatch,
    close: async (isOver) => {
      await dispatch.close(isOver);
      await queue.value.close();
      await db.destroy();
    },
  });
}

interface Wanted {
  readonly table: WorkerTable;
  readonly who: string;
  readonly name: string;
  readonly opened: Opened;
}

async function queueOf(db: Database, { table, who, name, opened }: Wanted): Promise<Result<Queue, Problem>> {
  let queue: Queue | undefined;
  try {
    queue = await openQueue(db, name);
    const { settings, signal } = opened;
    const { leaseMs } = settings.queue;
    const other = await becomeCoordinator(table, who, { leaseMs, signal, clock: systemClock });
    if (other === null) return ok(queue);
    await queue.close();
    return err(otherCoordinator(other));
  } catch (error) {
    await queue?.close();
    if (!isOfDatabase(error)) throw error;
    return err(storeProblem(opened.settings.store, error));
  }
}

function otherCoordinator({ who }: Coordinator): Problem {
  return {
    kind: 'project-locked',
    message: `these causes are being healed from another machine: ${who.replace(/ \S+$/, '')}`,
    remedy: 'Wait for it, or stop it first: only one machine at a time can send the causes of a commit.',
  };
}

/**
 * Becomes the coordinator of a queue, or returns the current one. A coordinator that was killed sends no more heartbeats; to find out,
 * this waits for the length of a lease.
 */
export async function becomeCoordinator(
  table: Pick<WorkerTable, 'coordinate'>,
  who: string,
  { leaseMs, signal, clock }: { leaseMs: number; signal: AbortSignal; clock: Clock },
): Promise<Coordinator | null> {
  const other = await table.coordinate(who);
  if (other === null) return null;
  await clock.sleep(leaseMs, signal);
  return signal.aborted ? other : table.coordinate(who, other);
}
