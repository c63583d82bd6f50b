import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import process from 'node:process';
import { systemClock } from '../../clock.js';
import type { SuiteRun } from '../../playwright/suite-run.js';
import type { Problem } from '../../problem.js';
import { openQueue } from '../../queue/open-queue.js';
import { type Coordinator, type WorkerTable, workerTable } from '../../queue/worker-table.js';
import { err, ok, type Result } from '../../result.js';
import { openStore } from '../../store/open-store.js';
import type { Opened } from '../open-run.js';
import { createDispatch } from './dispatch.js';
import type { HealedHere } from './healed-here.js';
import type { Workers } from './workers.js';

/** Opens the queue of a run's causes, as the only one that sends them. */
export async function openWorkers(
  opened: Opened,
  first: SuiteRun,
  here: HealedHere,
): Promise<Result<Workers, Problem>> {
  const { settings, cwd, folder } = opened;
  const store = await openStore(settings.store, cwd);
  if (!store.ok) return store;
  const db = store.value;
  const table = workerTable(db, settings.project, here.queue);
  const who = `${hostname()}, process ${process.pid}, run ${folder.runId} ${randomUUID()}`;
  const other = await becomeCoordinator(table, who, opened);
  if (other !== null) {
    await db.destroy();
    return err(otherCoordinator(other));
  }
  const queue = await openQueue(db, here.queue);
  const dispatch = createDispatch({ opened, first, here, queue, table, who });
  return ok({
    ...dispatch,
    close: async (isOver) => {
      await dispatch.close(isOver);
      await queue.close();
      await db.destroy();
    },
  });
}

/** One that was killed gives no more signs: for so long it is waited. Gives the one that is alive. */
async function becomeCoordinator(
  table: WorkerTable,
  who: string,
  { settings, signal }: Pick<Opened, 'settings' | 'signal'>,
): Promise<Coordinator | null> {
  const { leaseMs } = settings.queue;
  let other = await table.coordinate(who);
  for (let seen = other; other !== null && other.beat === seen?.beat; seen = other) {
    await systemClock.sleep(leaseMs, signal);
    if (signal.aborted) return other;
    other = await table.coordinate(who, other);
  }
  return other;
}

function otherCoordinator({ who }: Coordinator): Problem {
  return {
    kind: 'project-locked',
    message: `these causes are being healed from another machine: ${who.replace(/ \S+$/, '')}`,
    remedy: 'Wait for it, or end it first: one at a time sends the causes of a commit.',
  };
}
