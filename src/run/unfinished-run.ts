import { runIdsIn, idMeant } from './find-run.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { readRunState } from './event-log.js';
import { pidAtWork } from './run-journal.js';
import { runDirOf } from './run-folder.js';
import type { RunState } from './run-state.js';

/**
 * Returns the run that `resume` continues (ME-8): the named one or else the newest that was no dry run; if another run has continued it, that
 * one; and if it was killed before it knew its tests, the one that it was to continue.
 */
export async function unfinishedRun(
  projectRoot: string,
  named: string | null,
): Promise<Result<RunState, Problem>> {
  const ids = await runIdsIn(projectRoot);
  const isNamed = named !== null && named !== 'latest';
  const meant = isNamed
    ? idMeant(named, { noun: 'run', ids, remedy: 'Start one with `self-heal run`.' })
    : ok(null);
  if (!meant.ok) return meant;
  const runs: RunState[] = [];
  for (const id of ids.toReversed()) {
    const run = await readRunState(runDirOf(projectRoot, id));
    if (run.request && !run.dryRun) runs.push(run);
  }
  const asked = runs.find(({ runId }) => meant.value === null || runId === meant.value);
  if (!asked) return err(nothingToContinue(meant.value));
  const chosen = continuationOf(knowing(asked, runs), runs);
  for (const { runId } of [asked, chosen]) {
    const pid = await pidAtWork(runDirOf(projectRoot, runId));
    if (pid !== null) return err(atWork(runId, pid));
  }
  const outcome = chosen.ended?.outcome ?? null;
  if (!isOver(outcome)) return ok(chosen);
  const problem = over(chosen.runId, outcome);
  const isContinued = isNamed && chosen !== asked;
  return err(
    isContinued ? { ...problem, message: `run ${asked.runId} was continued; ${problem.message}` } : problem,
  );
}

/** A run that knows nothing of its tests yet is no further than the one that it continues. */
function knowing(run: RunState, runs: readonly RunState[]): RunState {
  if (run.ended || run.tests.size > 0) return run;
  // What was read is older with each step.
  const before = runs.slice(runs.indexOf(run) + 1).find(({ runId }) => runId === run.resumedFrom);
  return before ? knowing(before, runs) : run;
}

function continuationOf(run: RunState, runs: readonly RunState[]): RunState {
  const later = runs.slice(0, runs.indexOf(run));
  const next = later.find(
    ({ resumedFrom, ended, tests }) => resumedFrom === run.runId && (ended !== null || tests.size > 0),
  );
  return next ? continuationOf(next, runs) : run;
}

function isOver(outcome: string | null): outcome is 'green' | 'red' {
  return outcome === 'green' || outcome === 'red';
}

function over(runId: string, outcome: string): Problem {
  const message = `run ${runId} is finished (${outcome}); there is nothing to continue`;
  return { kind: 'usage', message, remedy: 'Start a new one with `self-heal run`.' };
}

function atWork(runId: string, pid: number): Problem {
  const message = `run ${runId} is still running (process ${pid})`;
  return { kind: 'usage', message, remedy: 'Wait for it, or interrupt it first.' };
}

function nothingToContinue(runId: string | null): Problem {
  const message = runId === null ? 'there is no run to continue' : `run ${runId} cannot be continued`;
  return { kind: 'usage', message, remedy: 'Start one with `self-heal run`.' };
}
