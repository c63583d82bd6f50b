import path from 'node:path';
import { existsSync, readlinkSync } from 'node:fs';
import type { DiagnosedFailure } from '../model/cause.js';
import { readFailureRecords } from './failure-record.js';
import { findAncestor } from '../workspace/git.js';
import type { Problem } from '../problem.js';
import { readRunState } from './event-log.js';
import { createReport, type Report } from './report.js';
import { isRunId, findRunDir, getRunsFolder } from './run-folder.js';
import { type Result, err, ok } from '../result.js';
import { listStateFolder, stateFolder } from '../state-folder.js';
import { listRunsAtWork } from '../work-folder.js';
import { findClosest } from '../config/closest.js';

/** An earlier run, as stored in its folder. */
export interface StoredRun {
  readonly runId: string;
  readonly dir: string;
  /** Null if its events cannot be read. */
  readonly report: Report | null;
  readonly failures: readonly DiagnosedFailure[];
  /** Files that could not be read, relative to the run's folder. */
  readonly unreadable: readonly string[];
}

/** Returns the run ids of a project, newest last. */
export async function listRunIds(projectRoot: string): Promise<string[]> {
  const ids = [...listStateFolder(getRunsFolder(projectRoot)), ...listRunsAtWork(projectRoot).keys()];
  return [...new Set(ids)].filter(isRunId).toSorted();
}

/** Reads the run that `word` names: `latest` (like null), an id, or the beginning of one. A project without runs is a `Problem`. */
export async function findRun(projectRoot: string, word: string | null): Promise<Result<StoredRun, Problem>> {
  const ids = await listRunIds(projectRoot);
  if (ids.length === 0) return err(createNoRunsProblem(projectRoot));
  const id = await resolveId(projectRoot, word, ids);
  return id.ok ? ok(await readRun(projectRoot, id.value)) : id;
}

async function resolveId(
  projectRoot: string,
  word: string | null,
  ids: readonly string[],
): Promise<Result<string, Problem>> {
  if (word === null || word === 'latest') return ok(findLatest(projectRoot, ids) ?? '');
  const recentIds = ids
    .slice(-10)
    .toReversed()
    .map((id) => `  ${id}`);
  const match = matchId(word, { noun: 'run', ids, remedy: 'Name one of these, or `latest`.' });
  if (match.ok || match.error.detail !== undefined) return match;
  const detail = `Runs, newest first:\n${recentIds.join('\n')}`;
  return err({ ...match.error, kind: 'run-missing', detail });
}

export async function readRun(projectRoot: string, runId: string): Promise<StoredRun> {
  const dir = findRunDir(projectRoot, runId);
  return {
    runId,
    dir,
    report: await readReport(dir),
    ...(await readFailureRecords(dir, { root: projectRoot })),
  };
}

/**
 * Returns the report of a run, or null if its events cannot be read. Derives it from the events, because report.json is missing after a kill and outdated
 * after an undo.
 */
export async function readReport(dir: string): Promise<Report | null> {
  const run = await readRunState(dir);
  return run.startedAt === null ? null : createReport(run);
}

/** Returns the id of the newest run, or null if there is none. */
export async function findLatestRunId(projectRoot: string): Promise<string | null> {
  return findLatest(projectRoot, await listRunIds(projectRoot));
}

/** Returns the run that `.self-heal/latest` names, else the newest one. Reads only the name, and does not follow the link. */
function findLatest(projectRoot: string, ids: readonly string[]): string | null {
  const latestId = path.basename(readLink(stateFolder(projectRoot, 'latest')));
  return ids.includes(latestId) ? latestId : (ids.at(-1) ?? null);
}

function readLink(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

function createNoRunsProblem(projectRoot: string): Problem {
  const parent = findAncestor(projectRoot, (folder) => existsSync(getRunsFolder(folder)));
  return {
    kind: 'run-missing',
    message: `no self-heal run was found in ${projectRoot}`,
    remedy:
      parent === null
        ? 'Run `self-heal run` first.'
        : `There are runs in ${parent}: change to that folder first.`,
  };
}

/** The minimum length of an abbreviated id. */
const MIN_ID_LENGTH = 4;

/** Returns the ids that match a word: the id itself, or ids that begin with it if it has at least four characters. */
export function matchIds(word: string, ids: readonly string[]): string[] {
  if (ids.includes(word)) return [word];
  return word.length < MIN_ID_LENGTH ? [] : ids.filter((id) => id.startsWith(word));
}

/**
 * Returns the one id that matches a word; none or several are a `Problem`. `noun` names the objects, such as `run`, and `remedy` the command that lists
 * them.
 */
export function matchId(
  word: string,
  { noun, ids, remedy }: { readonly noun: string; readonly ids: readonly string[]; readonly remedy: string },
): Result<string, Problem> {
  const [match, ...others] = matchIds(word, ids);
  if (match !== undefined && others.length === 0) return ok(match);
  if (match === undefined) {
    const closest = findClosest(word, ids);
    const hint = closest === null ? '' : `. Did you mean ${closest}?`;
    return err({ kind: 'usage', message: `there is no ${noun} ${word}${hint}`, remedy });
  }
  const list = [match, ...others].map((id) => `  ${id}`).join('\n');
  return err({
    kind: 'usage',
    message: `${word} matches several ${noun} ids`,
    detail: list,
    remedy: 'Type more of the id.',
  });
}
