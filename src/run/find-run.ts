import { existsSync } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { DiagnosedFailure } from '../core/cause.js';
import { readFailureRecords } from './failure-record.js';
import { projectAbove } from '../project-above.js';
import { jsonOf } from '../json-of.js';
import type { Problem } from '../problem.js';
import { readRunState } from './read-events.js';
import { reportOf } from './report-of.js';
import type { Report } from './report.js';
import { runDirOf, runsFolder } from './run-folder.js';
import { err, ok, type Result } from '../result.js';
import { idMeant } from './ids-meant.js';

/** An earlier run, as stored in its folder. */
export interface StoredRun {
  readonly runId: string;
  readonly dir: string;
  /** Its report.json, or what its events tell if it was killed, or undone since. Null if they tell nothing. */
  readonly report: Report | null;
  readonly failures: readonly DiagnosedFailure[];
  /** Files that could not be read, relative to the run's folder. */
  readonly unreadable: readonly string[];
}

/** Returns the run ids of a project, newest last. */
export async function runIdsIn(projectRoot: string): Promise<string[]> {
  const names = await readdir(runsFolder(projectRoot)).catch(() => []);
  return names.filter((name) => /^\d{8}-\d{6}-[\da-f]{4}$/.test(name)).toSorted();
}

/** Reads an earlier run by `latest` (or null), an id, or the beginning of one. A project without runs is a `Problem` that says how to get one. */
export async function findRun(projectRoot: string, word: string | null): Promise<Result<StoredRun, Problem>> {
  const ids = await runIdsIn(projectRoot);
  if (ids.length === 0) return err(noRuns(projectRoot));
  const id = await idOf(projectRoot, word, ids);
  return id.ok ? ok(await readRun(projectRoot, id.value)) : id;
}

async function idOf(
  projectRoot: string,
  word: string | null,
  ids: readonly string[],
): Promise<Result<string, Problem>> {
  if (word === null || word === 'latest') return ok((await latestOf(projectRoot, ids)) ?? '');
  const known = ids
    .slice(-10)
    .toReversed()
    .map((id) => `  ${id}`);
  const meant = idMeant(word, { noun: 'run', ids, remedy: 'Name one of these, or `latest`.' });
  if (meant.ok || meant.error.detail !== undefined) return meant;
  const detail = `Runs, newest first:\n${known.join('\n')}`;
  return err({ ...meant.error, kind: 'run-missing', detail });
}

/** Reads the run of this id. */
export async function readRun(projectRoot: string, runId: string): Promise<StoredRun> {
  const dir = runDirOf(projectRoot, runId);
  const run = await readRunState(dir);
  // An undo comes after report.json.
  const stored = run.undone ? null : await readReport(dir);
  const report = stored ?? (run.startedAt === null ? null : reportOf(run));
  return { runId, dir, report, ...(await readFailureRecords(dir)) };
}

/** Returns the id of the newest run, or null if there is none. */
export async function latestRunId(projectRoot: string): Promise<string | null> {
  return latestOf(projectRoot, await runIdsIn(projectRoot));
}

/** The target of `.self-heal/latest` if it is a run, else the newest id. */
async function latestOf(projectRoot: string, ids: readonly string[]): Promise<string | null> {
  const target = await realpath(path.join(projectRoot, '.self-heal', 'latest')).catch(() => '');
  const named = path.basename(target);
  return ids.includes(named) ? named : (ids.at(-1) ?? null);
}

/** Reads the report that a run left; null if there is none that can be read. */
export async function readReport(dir: string): Promise<Report | null> {
  const text = await readFile(path.join(dir, 'report.json'), 'utf8').catch(() => '');
  const report = Object(jsonOf(text)) as Partial<Report>;
  return report.schemaVersion === 1 ? (report as Report) : null;
}

function noRuns(projectRoot: string): Problem {
  const above = projectAbove(projectRoot, (folder) => existsSync(runsFolder(folder)));
  return {
    kind: 'run-missing',
    message: `no self-heal run was found in ${projectRoot}`,
    remedy:
      above === null
        ? 'Run `self-heal run` first.'
        : `There are runs in ${above}: change to that folder first.`,
  };
}
