import { listTests } from '../../model/failure.js';
import { findBase } from '../../workspace/git-trees.js';
import { failuresOf, matchingFailures } from '../inspect/find-failure.js';
import { testFilters, testsLeftRed, testFilter } from '../inspect/last-red.js';
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
  /** An earlier run, a cause of the last run, or a filter as Playwright takes it; what the last run left red if absent. */
  readonly test?: string | undefined;
}

/** Returns the run that searches for the change that broke tests (BL-1); a base or a run that does not exist is a `Problem`. */
export async function blameRequest(
  project: Pick<RunRequest, 'cwd' | 'env'>,
  { base, test, ...own }: BlameFlags,
): Promise<Result<CommandRequest, Problem>> {
  const unknown = base === undefined ? null : await unknownBase(project.cwd, base);
  if (unknown) return err(unknown);
  const filters = await filtersFor(project.cwd, test);
  if (!filters.ok) return filters;
  const options = { ...own, dryRun: true };
  const request = { ...project, name: 'blame', filters: filters.value, passThrough: [], options };
  return ok({ request, command: blame(base ?? null) });
}

/** Without git there is nothing to check; the search says so. */
async function unknownBase(cwd: string, base: string): Promise<Problem | null> {
  const commit = await findBase(cwd, base).catch(() => null);
  if (commit === null || typeof commit === 'string' || commit.kind !== 'unknown-base') return null;
  return {
    kind: 'usage',
    message: `git does not know the commit ${base}`,
    remedy: 'Name one with --base; in CI fetch it first (actions/checkout with `fetch-depth: 0`).',
  };
}

const runLike = /^(?:latest|\d{8}-[\d-]*[\da-f]*)$/;

/** Returns the filters of the tests that an earlier run left red, or of those that a word refers to in it; otherwise the word itself, for Playwright. */
export async function filtersFor(cwd: string, word: string | undefined): Promise<Result<string[], Problem>> {
  const named = word !== undefined && runLike.test(word) ? word : null;
  const run = await findRun(cwd, named);
  if (named !== null) {
    if (!run.ok) return run;
    const filters = testFilters(testsLeftRed(run.value.report), cwd);
    return filters.length > 0 ? ok(filters) : err(nothingRed(run.value.runId));
  }
  if (word === undefined) return ok(run.ok ? testFilters(testsLeftRed(run.value.report), cwd) : []);
  if (!run.ok) return ok([word]);
  const failures = matchingFailures(word, failuresOf(run.value)).map(({ failure }) => failure);
  const meant = listTests(failures).map(({ location: { file, line } }) => testFilter(file, line));
  return ok(meant.length > 0 ? [...new Set(meant)] : [word]);
}

function nothingRed(runId: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} left no failing test`,
    remedy: 'Name a test instead: self-heal blame tests/cart.spec.ts:9.',
  };
}
