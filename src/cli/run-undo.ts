import path from 'node:path';
import { exitCodes } from '../core/exit-codes.js';
import { readRunState } from '../run/read-events.js';
import { keptChanges, nullIfMissing, undo } from '../run/undo.js';
import type { Written } from '../workspace/write-files.js';
import type { StoredRun } from '../run/find-run.js';
import { formatProblem, type Problem } from '../problem.js';
import { appendEvent } from '../run/write-events.js';
import { withStore } from '../store/with-store.js';
import { recover } from '../run/recover-if-needed.js';
import { runToUndo, type UndoRequest } from './run-to-undo.js';
import { underLockOfRuns } from '../run/under-lock.js';
import { print } from './end.js';

/** The flags of `self-heal undo`. */
export interface UndoOptions {
  /** Skips the confirmation. */
  yes?: boolean;
  /** Waits for another command in the project. */
  wait?: boolean;
  store?: string;
}

/** Runs `self-heal undo`; returns the exit code, or the problem that prevented it. */
export async function runUndo(
  word: string | undefined,
  { yes = false, wait = false, store }: UndoOptions,
): Promise<number | Problem> {
  return underLockOfRuns({ cwd: process.cwd(), command: 'undo', wait }, () =>
    undoNamed({ cwd: process.cwd(), word, yes }, store),
  );
}

async function undoNamed(request: UndoRequest, store: string | undefined): Promise<number | Problem> {
  const { cwd } = request;
  const problem = await recover(cwd);
  if (problem) return problem;
  const found = await runToUndo(request);
  if (!found.ok) return found.error;
  if (found.value === null) return exitCodes.interrupted;
  const { runId, dir } = found.value;
  const run = await readRunState(dir);
  const kept = keptChanges(dir, run);
  if (kept === null) return contentsGone(runId);
  if (kept.length === 0)
    return print(
      run.undone ? reverted(runId) : `run ${runId} left no changes in the project: nothing to undo`,
    );
  const undone = await undo(cwd, { runId, dir }, kept).catch(nullIfMissing);
  if (undone === null) return contentsGone(runId);
  await noteUndone(found.value, undone, store);
  print(
    [
      ...told(runId, undone),
      ...(undone.installed === null ? [] : [`ran ${undone.installed}, because the dependencies changed`]),
      `the patches are kept in ${path.relative(cwd, path.join(dir, 'attempts'))}`,
    ].join('\n'),
  );
  return undone.leftAlone.length > 0 ? exitCodes.red : exitCodes.green;
}

/** Records the undo in the run's events and in the store, where its heals no longer count as held (ME-7). */
async function noteUndone(
  { runId, dir }: StoredRun,
  undone: Written,
  named: string | undefined,
): Promise<void> {
  const { written: restored, leftAlone } = undone;
  appendEvent(dir, { type: 'run.undone', restored, leftAlone });
  if (undone.written.length === 0) return;
  const problem = await withStore({ store: named }, async (store) => {
    await store?.runUndone(runId);
    return null;
  });
  if (problem) process.stderr.write(`${formatProblem(problem)}\n`);
}

function told(runId: string, { written, leftAlone }: Written): string[] {
  return [
    ...(written.length > 0 ? [`reverted what run ${runId} changed:`] : []),
    ...(written.length + leftAlone.length === 0 ? [reverted(runId)] : []),
    ...written.map((file) => `  ${file}`),
    ...(leftAlone.length > 0 ? [`left alone, because they changed since run ${runId}:`] : []),
    ...leftAlone.map((file) => `  ${file}`),
  ];
}

function reverted(runId: string): string {
  return `run ${runId} has already been reverted`;
}

function contentsGone(runId: string): Problem {
  return {
    kind: 'run-missing',
    message: `What run ${runId} changed can no longer be read from .self-heal; nothing was changed`,
    remedy: `Revert with git apply -R: the patches are in .self-heal/runs/${runId}/attempts.`,
  };
}
