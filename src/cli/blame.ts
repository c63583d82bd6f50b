import type { Command } from 'commander';
import { addWaitFlag, agentsFlag, collect, configFlag } from './options.js';
import { endWith } from './end.js';
import { testsOf } from '../core/failure.js';
import { matchingFailures, failuresOf } from '../inspect/find-failure.js';
import { baseOf } from '../git/git-trees.js';
import { filtersOf, leftRed, placeOf } from '../inspect/last-red.js';
import { findRun } from '../run/find-run.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { blame } from '../heal/commands.js';
import { runCommand } from '../heal/whole-run.js';
import type { RunOptions } from '../heal/run-request.js';

const examples = `
Re-runs tests with changes reverted until it finds the smallest set of changes
whose reversal makes them pass. Your files are restored afterwards. The search
goes back to the last commit at which a run here saw the test pass; without one,
to where the branch left the default branch; and without that, it covers only
uncommitted changes.

  self-heal blame                   the tests that the last run left failing, or
                                    the whole suite
  self-heal blame cart.spec.ts:9    this test
  self-heal blame --base v1.4       only changes since this tag`;

/** `self-heal blame`: finds the change that broke a test, with proof (BL-1). */
export function define(command: Command): Command {
  return addWaitFlag(command)
    .argument(
      '[run-or-test]',
      'an earlier run, a cause of the last run (c1), or test filters as Playwright takes them',
    )
    .option('--base <commit>', 'a commit at which the test passed')
    .option(...configFlag)
    .option('--project <name>', 'only run this project; may be repeated', collect)
    .option(...agentsFlag)
    .option('--json', 'print report.json to standard output; the answer is in causes[].blame')
    .addHelpText('after', examples)
    .action(endWith(runBlame));
}

/** The flags of `self-heal blame`. */
interface BlameOptions extends Pick<RunOptions, 'config' | 'project' | 'agents' | 'json' | 'wait'> {
  base?: string;
}

/** Runs `self-heal blame`; returns the exit code, or the problem that prevented the search. */
async function runBlame(word: string | undefined, { base, ...own }: BlameOptions): Promise<number | Problem> {
  const cwd = process.cwd();
  const unknown = base === undefined ? null : await unknownBase(cwd, base);
  if (unknown) return unknown;
  const filters = await filtersFor(cwd, word);
  if (!filters.ok) return filters.error;
  const options: RunOptions = { ...own, dryRun: true };
  const request = { cwd, env: process.env, name: 'blame', filters: filters.value, passThrough: [], options };
  return runCommand(request, blame(base ?? null));
}

/** Without git there is nothing to check; the search says so. */
async function unknownBase(cwd: string, base: string): Promise<Problem | null> {
  const found = await baseOf(cwd, base).catch(() => null);
  if (found === null || typeof found === 'string' || found.what !== 'unknown-base') return null;
  return {
    kind: 'usage',
    message: `git does not know the commit ${base}`,
    remedy: 'Name one with --base; in CI fetch it first (actions/checkout with `fetch-depth: 0`).',
  };
}

const runLike = /^(?:latest|\d{8}-[\d-]*[\da-f]*)$/;

/** Returns the filters of the tests to run: those an earlier run left red, those a word refers to in it, or the word as Playwright takes it. */
export async function filtersFor(cwd: string, word: string | undefined): Promise<Result<string[], Problem>> {
  const named = word !== undefined && runLike.test(word) ? word : null;
  const run = await findRun(cwd, named);
  if (named !== null) {
    if (!run.ok) return run;
    const filters = filtersOf(leftRed(run.value.report), cwd);
    return filters.length > 0 ? ok(filters) : err(nothingRed(run.value.runId));
  }
  if (word === undefined) return ok(run.ok ? filtersOf(leftRed(run.value.report), cwd) : []);
  if (!run.ok) return ok([word]);
  const failures = matchingFailures(word, failuresOf(run.value)).map(({ failure }) => failure);
  const meant = testsOf(failures).map(({ location: { file, line } }) => placeOf(file, line));
  return ok(meant.length > 0 ? [...new Set(meant)] : [word]);
}

function nothingRed(runId: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} left no failing test`,
    remedy: 'Name a test instead: self-heal blame tests/cart.spec.ts:9.',
  };
}
