import { closest } from '../config/closest.js';
import { runIdsIn, idMeant, idsMeant } from './find-run.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { Store, StoredRun } from '../store/store.js';
import { readRunState } from './event-log.js';
import type { RunAsked } from '../event.js';
import { pidAtWork } from './run-journal.js';
import { isRunId, runDirOf } from './run-folder.js';

/** A run that can be resumed. */
export type UnfinishedRun = Pick<StoredRun, 'runId' | 'request' | 'progress'>;

/** Where to look for earlier runs. */
export interface EarlierRuns {
  readonly projectRoot: string;
  /** Null if nothing was ever stored. */
  readonly store: Pick<Store, 'run'> | null;
}

/**
 * Returns the run that `resume` continues (ME-8): the named one or else the newest; if another run has already resumed it, that one. A run
 * that was killed before it found anything is known only by its folder.
 */
export async function unfinishedRun(
  at: EarlierRuns,
  named: string | null,
  seen: readonly string[] = [],
): Promise<Result<UnfinishedRun, Problem>> {
  const ids = await runIdsIn(at.projectRoot);
  const meant = named === null || named === 'latest' ? ok(null) : runMeant(named, ids);
  if (!meant.ok) return meant;
  const runId = meant.value;
  const folder = await folderRun(at.projectRoot, runId === null ? ids.toReversed() : [runId]);
  if (folder?.pid != null) return err(atWork(folder.runId, folder.pid));
  const stored = (await at.store?.run(runId)) ?? null;
  if (stored && !(folder && folder.runId > stored.runId)) return unfinishedStored(at, stored, named);
  if (!folder) return err(noSuchRun(runId, ids));
  if (isOver(folder.outcome)) return err(over(folder.runId, folder.outcome));
  // This run was killed before it achieved anything; the run that it resumed can still be resumed.
  const { resumedFrom } = folder;
  if (resumedFrom !== null && !seen.includes(resumedFrom))
    return unfinishedRun(at, resumedFrom, [...seen, folder.runId]);
  return ok({ runId: folder.runId, request: folder.request, progress: null });
}

/** A run whose folder is gone may still be in the store. */
function runMeant(named: string, ids: readonly string[]): Result<string, Problem> {
  if (idsMeant(named, ids).length === 0) return isRunId(named) ? ok(named) : err(noSuchRun(named, ids));
  return idMeant(named, { noun: 'run', ids, remedy: 'Give another run id.' });
}

/** A run as described by its folder. The store knows only runs that found something to heal. */
interface FolderRun {
  readonly runId: string;
  /** Null if it was killed, or is in progress. */
  readonly outcome: string | null;
  readonly request: RunAsked;
  readonly resumedFrom: string | null;
  /** The process that is working on it, or null. */
  readonly pid: number | null;
}

/** Returns the newest run that was not a dry run. */
async function folderRun(projectRoot: string, ids: readonly string[]): Promise<FolderRun | null> {
  for (const runId of ids) {
    const dir = runDirOf(projectRoot, runId);
    const { request, dryRun, ended, resumedFrom } = await readRunState(dir);
    if (request && !dryRun)
      return { runId, outcome: ended?.outcome ?? null, request, resumedFrom, pid: await pidAtWork(dir) };
  }
  return null;
}

async function unfinishedStored(
  at: EarlierRuns,
  stored: StoredRun,
  named: string | null,
  seen: readonly string[] = [],
): Promise<Result<UnfinishedRun, Problem>> {
  if (isOver(stored.outcome)) return err(over(stored.runId, stored.outcome));
  const next = stored.continuedIn === null ? null : await at.store?.run(stored.continuedIn);
  if (!next || seen.includes(next.runId)) return ok(stored);
  const found = await unfinishedStored(at, next, named, [...seen, stored.runId]);
  if (found.ok || named === null) return found;
  return err({ ...found.error, message: `run ${stored.runId} was continued; ${found.error.message}` });
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

function noSuchRun(runId: string | null, ids: readonly string[]): Problem {
  const meant = runId === null ? null : closest(runId, ids);
  const hint = meant === null ? '' : `. Did you mean ${meant}?`;
  const message = runId === null ? 'there is no run to continue' : `there is no run ${runId}${hint}`;
  return { kind: 'usage', message, remedy: 'Start one with `self-heal run`.' };
}
