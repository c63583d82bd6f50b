import type { Clock } from '../../clock.js';
import type { Coordinator, WorkerTable } from '../../queue/worker-table.js';

/**
 * Becomes the coordinator of a queue, or gives the one that is. One that was killed gives no more signs: it is waited for the length of a lease
 * to see that.
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
