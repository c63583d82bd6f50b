import type { Attempt } from '../core/attempt.js';
import { spentOn } from '../core/spent-on.js';
import type { CauseRecord, Progress } from './progress.js';

/** Adds the record of a cause, or replaces its earlier record. */
export function put({ causes }: Progress, record: CauseRecord): void {
  const at = causes.findIndex((one) => one.cause.id === record.cause.id);
  if (at === -1) causes.push(record);
  else causes[at] = record;
}

/** Records the end of a cause and announces it, with the proof of a fix that is another cause's. */
export async function endCause(
  progress: Progress,
  ended: CauseRecord,
  proven: Partial<Pick<Attempt, 'proof' | 'testProofs'>> = {},
): Promise<void> {
  put(progress, ended);
  const { cause, verdict, reason, attempts } = ended;
  const { signature, diagnosis } = cause.lead;
  await progress.session.store.causeEnded({
    causeId: cause.id,
    signature,
    category: diagnosis.category,
    verdict,
    reason,
    bySharedFix: attempts.at(-1)?.judged !== 'green',
  });
  progress.session.bus.emit({
    type: 'cause.ended',
    causeId: cause.id,
    verdict,
    reason,
    attempts: attempts.length,
    costUsd: spentOn(attempts).costUsd,
    ...proven,
  });
}
