import { systemClock } from '../clock.js';
import type { StoredRun } from '../inspect/find-run.js';
import { formatProblem } from '../problem.js';
import { appendEvent } from '../run/write-events.js';
import type { Written } from '../workspace/write-files.js';
import { withLedger } from './open-ledger.js';

/** Writes an undoing into the run's events, and into the store, in which its heals have not held then (ME-7). */
export async function noteUndone({ runId, dir }: StoredRun, undone: Written): Promise<void> {
  const { written: restored, leftAlone } = undone;
  await appendEvent(dir, { type: 'run.undone', restored, leftAlone }, systemClock);
  if (undone.written.length === 0) return;
  const problem = await withLedger({}, async (ledger) => {
    await ledger?.runUndone(runId);
    return null;
  });
  if (problem) process.stderr.write(`${formatProblem(problem)}\n`);
}
