import { readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { DiagnosedFailure } from '../core/cause.js';
import { readFailureRecords } from '../failure-record.js';
import type { Problem } from '../problem.js';
import type { Report } from '../reporters/report.js';
import { err, ok, type Result } from '../result.js';

/** An earlier run, as its folder holds it. */
export interface StoredRun {
  readonly runId: string;
  readonly dir: string;
  /** Null where the run was killed before it could write it. */
  readonly report: Report | null;
  readonly failures: readonly DiagnosedFailure[];
  /** Files that could not be read, relative to the run's folder. */
  readonly unreadable: readonly string[];
}

/** The run ids of a project, the newest last. */
export async function runIdsIn(projectRoot: string): Promise<string[]> {
  const names = await readdir(runsFolder(projectRoot)).catch(() => []);
  return names.filter((name) => /^\d{8}-\d{6}-[\da-f]{4}$/.test(name)).toSorted();
}

/**
 * The id of the run that a word means: `latest`, an id, or the beginning of exactly one of at least four characters; null if
 * it means none.
 */
export function runIdOf(word: string, ids: readonly string[]): string | null {
  if (word === 'latest') return ids.at(-1) ?? null;
  const meant = ids.filter((id) => id === word || (word.length >= 4 && id.startsWith(word)));
  return meant.length === 1 ? (meant[0] ?? null) : null;
}

/** Reads an earlier run; a project without runs is a `Problem` that says how to get one. */
export async function findRun(
  projectRoot: string,
  runId: string | null,
): Promise<Result<StoredRun, Problem>> {
  const ids = await runIdsIn(projectRoot);
  const meant = runId ?? (await latestOf(projectRoot, ids));
  if (meant === null || !ids.includes(meant)) return err(noSuchRun(projectRoot, runId, ids));
  const dir = path.join(runsFolder(projectRoot), meant);
  const report = await readReport(dir);
  return ok({ runId: meant, dir, report, ...(await readFailureRecords(dir)) });
}

/** The id of the newest run, or null where there is none. */
export async function latestRunId(projectRoot: string): Promise<string | null> {
  return latestOf(projectRoot, await runIdsIn(projectRoot));
}

/** `.self-heal/latest` where it points at a run, else the newest by its id. */
async function latestOf(projectRoot: string, ids: readonly string[]): Promise<string | null> {
  const target = await realpath(path.join(projectRoot, '.self-heal', 'latest')).catch(() => '');
  const named = path.basename(target);
  return ids.includes(named) ? named : (ids.at(-1) ?? null);
}

async function readReport(dir: string): Promise<Report | null> {
  try {
    const report = JSON.parse(await readFile(path.join(dir, 'report.json'), 'utf8')) as Report;
    return report.schemaVersion === 1 ? report : null;
  } catch {
    return null;
  }
}

function noSuchRun(projectRoot: string, runId: string | null, ids: readonly string[]): Problem {
  const known = ids.slice(-10).toReversed();
  return {
    kind: 'run-missing',
    message: runId ? `there is no run ${runId}` : `there is no run of self-heal in ${projectRoot}`,
    ...(known.length > 0
      ? { detail: `Runs, the newest first:\n${known.map((id) => `  ${id}`).join('\n')}` }
      : {}),
    remedy: known.length > 0 ? 'Name one of these, or `latest`.' : 'Run `self-heal run` first.',
  };
}

function runsFolder(projectRoot: string): string {
  return path.join(projectRoot, '.self-heal', 'runs');
}
