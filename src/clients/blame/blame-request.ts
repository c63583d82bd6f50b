import { listTests } from '../../model/failure.js';
import { findBase } from '../../workspace/git-trees.js';
import { listFailures, findMatchingFailures } from '../inspect/find-failure.js';
import { createFilters, listRedTests, createFilter } from '../inspect/last-red.js';
import type { Problem } from '../../problem.js';
import { err, ok, type Result } from '../../result.js';
import { findRun } from '../../run/find-run.js';
import { blame } from '../../commands.js';
import type { CommandRequest } from '../../command/run.js';
import type { RunOptions, RunRequest } from '../../command/run-request.js';

/** The options of `self-heal blame`. */
export interface BlameFlags extends Pick<RunOptions, 'config' | 'project' | 'agents' | 'json' | 'wait'> {
  /** A commit at which the tests passed. */
  readonly base?: string | undefined;
  /** An earlier run, a cause of the last run, or one of Playwright's filters; default: the tests that the last run left red. */
  readonly test?: string | undefined;
}

/** Creates the request for the run that searches for the change that broke tests (BL-1); an unknown base or run is a `Problem`. */
export async function createBlameRequest(
  project: Pick<RunRequest, 'cwd' | 'env'>,
  { base, test, ...sharedFlags }: BlameFlags,
): Promise<Result<CommandRequest, Problem>> {
  const problem = base === undefined ? null : await checkBase(project.cwd, base);
  if (problem) return err(problem);
  const filters = await findFilters(project.cwd, test);
  if (!filters.ok) return filters;
  const options = { ...sharedFlags, dryRun: true };
  const request = { ...project, name: 'blame', filters: filters.value, passThrough: [], options };
  return ok({ request, command: blame(base ?? null) });
}

/** Returns a problem if git does not know the base commit. The search itself reports a missing git. */
async function checkBase(cwd: string, base: string): Promise<Problem | null> {
  const commit = await findBase(cwd, base).catch(() => null);
  if (commit === null || typeof commit === 'string' || commit.kind !== 'unknown-base') return null;
  return {
    kind: 'usage',
    message: `git does not know the commit ${base}`,
    remedy:
      'Name another commit with --base; in CI, fetch it first (actions/checkout with `fetch-depth: 0`).',
  };
}

const runIdPattern = /^(?:latest|\d{8}-[\d-]*[\da-f]*)$/;

/**
 * Returns the filters for the red tests of the run or cause (of the last run) that the word names; without a word, for the last run's red tests. Any
 * other word is a filter itself.
 */
export async function findFilters(cwd: string, word: string | undefined): Promise<Result<string[], Problem>> {
  const runId = word !== undefined && runIdPattern.test(word) ? word : null;
  const run = await findRun(cwd, runId);
  if (runId !== null) {
    if (!run.ok) return run;
    const filters = createFilters(listRedTests(run.value.report), cwd);
    return filters.length > 0 ? ok(filters) : err(createNoRedTestProblem(run.value.runId));
  }
  if (word === undefined) return ok(run.ok ? createFilters(listRedTests(run.value.report), cwd) : []);
  if (!run.ok) return ok([word]);
  const failures = findMatchingFailures(word, listFailures(run.value)).map(({ failure }) => failure);
  const matching = listTests(failures).map(({ location: { file, line } }) => createFilter(file, line));
  return ok(matching.length > 0 ? [...new Set(matching)] : [word]);
}

function createNoRedTestProblem(runId: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} has no failing test`,
    remedy: 'Name a test instead: self-heal blame tests/cart.spec.ts:9.',
  };
}
