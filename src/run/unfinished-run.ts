import { closest } from '../config/closest.js';
import { runIdsIn } from './find-run.js';
import { idMeant, idsMeant } from './ids-meant.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { Store, StoredRun } from '../store/store.js';
import { readRunState } from './read-events.js';
import type { RunAsked } from '../event.js';
import { pidAtWork } from './run-journal.js';
import { runDirOf } from './run-folder.js';

/** A run that can be gone on with. */
export type UnfinishedRun = Pick<StoredRun, 'runId' | 'request' | 'progress'>;

/** Where earlier runs are looked for. */
export interface EarlierRuns {
  readonly projectRoot: string;
  /** Null where nothing was ever stored. */
  readonly store: Store | null;
}

/**
 * The run that `resume` goes on with (ME-8): the one that is named, else the newest; where another run has gone on with it, that
 * one. A run that was killed before it found anything is known by its folder alone.
 */
export async function unfinishedRun(
  at: EarlierRuns,
  named: string | null,
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
  // It was killed before it had anything of its own: what it went on with is still there.
  if (folder.resumedFrom !== null) return unfinishedRun(at, folder.resumedFrom);
  return ok({ runId: folder.runId, request: folder.request, progress: null });
}

/** One that no folder is left of may still be in the store. */
function runMeant(named: string, ids: readonly string[]): Result<string, Problem> {
  if (idsMeant(named, ids).length === 0) return ok(named);
  return idMeant(named, { noun: 'run', ids, remedy: 'Name another one.' });
}

/** A run as its folder tells of it. The store knows only those that found something to heal. */
interface FolderRun {
  readonly runId: string;
  /** Null where it was killed, or is at work. */
  readonly outcome: string | null;
  readonly request: RunAsked;
  readonly resumedFrom: string | null;
  /** The process that is at work on it, or null. */
  readonly pid: number | null;
}

/** The newest run that was more than shown. */
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
): Promise<Result<UnfinishedRun, Problem>> {
  if (isOver(stored.outcome)) return err(over(stored.runId, stored.outcome));
  const next = stored.continuedIn === null ? null : await at.store?.run(stored.continuedIn);
  if (!next) return ok(stored);
  const found = await unfinishedStored(at, next, named);
  if (found.ok || named === null) return found;
  return err({ ...found.error, message: `Run ${stored.runId} was continued. ${found.error.message}` });
}

function isOver(outcome: string | null): outcome is 'green' | 'red' {
  return outcome === 'green' || outcome === 'red';
}

function over(runId: string, outcome: string): Problem {
  const message = `Run ${runId} is finished (${outcome}); there is nothing to continue`;
  return { kind: 'usage', message, remedy: 'Start a new one: self-heal run.' };
}

function atWork(runId: string, pid: number): Problem {
  const message = `Run ${runId} is still running (process ${pid})`;
  return { kind: 'usage', message, remedy: 'Wait for it, or interrupt it first.' };
}

function noSuchRun(runId: string | null, ids: readonly string[]): Problem {
  const meant = runId === null ? null : closest(runId, ids);
  const hint = meant === null ? '' : `. Did you mean ${meant}?`;
  const message = runId === null ? 'There is no run to continue' : `There is no run ${runId}${hint}`;
  return { kind: 'usage', message, remedy: 'Start one: self-heal run.' };
}
