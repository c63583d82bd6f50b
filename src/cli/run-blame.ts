import path from 'node:path';
import { testsOf } from '../core/failure.js';
import escapeStringRegexp from 'escape-string-regexp';
import { failuresMeant, failuresOf } from '../inspect/find-failure.js';
import { baseOf } from '../git-trees.js';
import { findRun, type StoredRun } from '../run/find-run.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { ReportTest } from '../run/report.js';
import { runSelfHeal } from '../heal/whole-run.js';
import type { RunOptions } from '../heal/run-request.js';

/** The flags of `self-heal blame`. */
export interface BlameOptions extends Pick<RunOptions, 'config' | 'project' | 'agents' | 'json' | 'wait'> {
  base?: string;
}

/** Runs `self-heal blame`; returns the exit code, or the problem that prevented the search. */
export async function runBlame(
  word: string | undefined,
  { base, ...own }: BlameOptions,
): Promise<number | Problem> {
  const cwd = process.cwd();
  const unknown = base === undefined ? null : await unknownBase(cwd, base);
  if (unknown) return unknown;
  const filters = await filtersFor(cwd, word);
  if (!filters.ok) return filters.error;
  const options: RunOptions = { ...own, dryRun: true };
  return runSelfHeal({
    cwd,
    env: process.env,
    filters: filters.value,
    passThrough: [],
    options,
    blame: { base: base ?? null },
  });
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
const red: readonly ReportTest['verdict'][] = [
  'failed',
  'escalated',
  'rejected',
  'agent-unusable',
  'green-once',
];

/** Returns the filters of the tests to run: those an earlier run left red, those a word refers to in it, or the word as Playwright takes it. */
export async function filtersFor(cwd: string, word: string | undefined): Promise<Result<string[], Problem>> {
  const named = word !== undefined && runLike.test(word) ? word : null;
  const run = await findRun(cwd, named);
  if (named !== null) {
    if (!run.ok) return run;
    const filters = leftRed(run.value, cwd);
    return filters.length > 0 ? ok(filters) : err(nothingRed(run.value.runId));
  }
  if (word === undefined) return ok(run.ok ? leftRed(run.value, cwd) : []);
  if (!run.ok) return ok([word]);
  const failures = failuresMeant(word, failuresOf(run.value)).map(({ failure }) => failure);
  const meant = testsOf(failures).map(({ location: { file, line } }) => placeOf(file, line));
  return ok(meant.length > 0 ? [...new Set(meant)] : [word]);
}

function leftRed({ report }: StoredRun, cwd: string): string[] {
  const tests = (report?.tests ?? []).filter(({ verdict }) => red.includes(verdict));
  return [...new Set(tests.map(({ file, line }) => placeOf(path.resolve(cwd, file), line)))];
}

/** Formats a position as a Playwright filter: a regular expression for the whole path, and a line. */
function placeOf(file: string, line: number): string {
  return `${escapeStringRegexp(file)}:${line}`;
}

function nothingRed(runId: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} left no failing test`,
    remedy: 'Name a test instead: self-heal blame tests/cart.spec.ts:9.',
  };
}
