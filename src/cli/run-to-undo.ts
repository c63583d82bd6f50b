import { findRun, readRun, runIdsIn, type StoredRun } from '../run/find-run.js';
import type { Problem } from '../problem.js';
import { counted } from '../outputs/format.js';
import { localTime } from '../outputs/local-time.js';
import { err, ok, type Result } from '../result.js';
import { readRunState } from '../run/read-events.js';
import { pidAtWork } from '../run/run-journal.js';
import { keptChanges } from '../run/undo.js';
import type { Change } from '../workspace/change.js';
import { canAsk, confirmed } from '../outputs/ask.js';

/** The arguments of `undo`, and where it was run. */
export interface UndoRequest {
  readonly cwd: string;
  readonly word: string | undefined;
  /** Never ask. */
  readonly yes: boolean;
}

const FILES_NAMED = 5;

/**
 * Returns the run whose changes to revert: the named one, or else the newest that left changes and has not been undone. If that is not the
 * last run, the user is asked; returns null if they decline.
 */
export async function runToUndo({ cwd, word, yes }: UndoRequest): Promise<Result<StoredRun | null, Problem>> {
  const last = await findRun(cwd, word ?? null);
  if (!last.ok) return last;
  if ((await pidAtWork(last.value.dir)) !== null) return err(atWork(last.value.runId));
  if (word !== undefined || (await keptIn(last.value))?.length !== 0) return last;
  const found = await newestWithChanges(cwd);
  if (found === null) return last;
  if (yes) return ok(found);
  if (!canAsk(process.env, process)) return err(notTheLast(found, await changedBy(found)));
  const isWanted = await confirmed(`The last run changed nothing. Undo ${await named(found)}?`);
  return ok(isWanted ? found : null);
}

async function newestWithChanges(cwd: string): Promise<StoredRun | null> {
  for (const runId of (await runIdsIn(cwd)).toReversed()) {
    const run = await readRun(cwd, runId);
    if ((await keptIn(run))?.length) return run;
  }
  return null;
}

/** Returns the changes that it left in the project and that have not all been reverted since; null if they can no longer be read. */
async function keptIn({ dir }: StoredRun): Promise<Change[] | null> {
  return keptChanges(dir, await readRunState(dir));
}

async function changedBy(run: StoredRun): Promise<string[]> {
  const kept = (await keptIn(run)) ?? [];
  return [...new Set(kept.flatMap(({ edits }) => edits.map((edit) => edit.path)))];
}

async function named(run: StoredRun): Promise<string> {
  const files = await changedBy(run);
  const more = files.length > FILES_NAMED ? ` and ${files.length - FILES_NAMED} more` : '';
  return `run ${run.runId}${startOf(run)}, which changed ${files.slice(0, FILES_NAMED).join(', ')}${more}`;
}

function startOf({ report }: StoredRun): string {
  return report === null ? '' : ` of ${localTime(report.startedAt)}`;
}

function notTheLast(run: StoredRun, files: readonly string[]): Problem {
  return {
    kind: 'usage',
    message: `the last run changed nothing; the newest that did is ${run.runId}${startOf(run)}, with ${counted(files.length, 'file')}`,
    detail: files.map((file) => `  ${file}`).join('\n'),
    remedy: `Run \`self-heal undo ${run.runId}\` or \`self-heal undo --yes\`.`,
  };
}

function atWork(runId: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} is still running`,
    remedy: 'Wait for it, or interrupt it: it then reverts every unproven change.',
  };
}
