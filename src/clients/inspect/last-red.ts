import path from 'node:path';
import escapeStringRegexp from 'escape-string-regexp';
import { listTests } from '../../model/failure.js';
import { isResolved } from '../../model/verdict.js';
import { readFailureRecords } from '../../run/failure-record.js';
import { readReport, listRunIds } from '../../run/find-run.js';
import type { Report, ReportTest } from '../../run/report.js';
import { readRunState } from '../../run/event-log.js';
import { findRunDir } from '../../run/run-folder.js';
import { readTreeState, type TreeState } from '../../run/tree-state.js';

const redVerdicts: readonly ReportTest['verdict'][] = [
  'failed',
  'escalated',
  'rejected',
  'agent-unusable',
  'green-once',
];

/** Returns the tests that a run left red. */
export function listRedTests(report: Report | null): ReportTest[] {
  return (report?.tests ?? []).filter(({ verdict }) => redVerdicts.includes(verdict));
}

/** Creates Playwright filters for exactly these tests. */
export function createFilters(tests: readonly ReportTest[], cwd: string): string[] {
  return [...new Set(tests.map(({ file, line }) => createFilter(path.resolve(cwd, file), line)))];
}

/** Formats a position as a Playwright filter: a regular expression for the whole path, and a line. */
export function createFilter(file: string, line: number): string {
  return `${escapeStringRegexp(file)}:${line}`;
}

/** The tests that are currently red, according to the stored runs. */
export interface LastRedRun {
  /** Empty if the suite itself was red, before its tests. */
  readonly tests: readonly ReportTest[];
  /** The commit of the last earlier run in which one of them was green; null if there was none, or if it had uncommitted changes. */
  readonly greenCommit: string | null;
  /** The first run since then in which they were red, and the state of its files; null if it was not stored. */
  readonly since: { readonly runId: string; readonly dir: string; readonly state: TreeState | null };
  /** The last of all these runs. */
  readonly runId: string;
  /** The runs in which they were last red, each with its tests. */
  readonly redRuns: readonly { readonly runId: string; readonly tests: readonly ReportTest[] }[];
}

/** The maximum number of newest runs to search. */
const MAX_RUNS = 50;

/**
 * Finds the last run that left tests red, and the first run of the unbroken series of such runs. Changes are compared with that first run, because runs
 * and commits in between could hide some. A test that a partial run, such as `blame`, did not run keeps its earlier result. Returns null if no run left
 * a test red.
 */
export async function findLastRed(cwd: string): Promise<LastRedRun | null> {
  let last = null as LastRedRun | null;
  const testedIds = new Set<string>();
  let isPartial = true;
  for (const runId of (await listRunIds(cwd)).toReversed().slice(0, MAX_RUNS)) {
    const dir = findRunDir(cwd, runId);
    const report = await readReport(dir);
    const tests = listRedTests(report);
    if (!report || !isRed(report)) {
      if (last && hasGreenTest(last, report)) return { ...last, greenCommit: report?.commit ?? null };
      continue;
    }
    const state = readTreeState(dir);
    const since = { runId, dir, state };
    if (last !== null && !sharesTests(last, tests)) break;
    const stillRed = isPartial ? tests.filter(({ id }) => !testedIds.has(id)) : [];
    for (const { id } of report.tests) testedIds.add(id);
    const { request } = await readRunState(dir);
    isPartial &&= (request?.filters.length ?? 0) > 0;
    last = {
      tests: [...(last?.tests ?? []), ...stillRed],
      greenCommit: null,
      runId: last?.runId ?? runId,
      since: last && !state ? last.since : since,
      redRuns: [...(last?.redRuns ?? []), ...(stillRed.length > 0 ? [{ runId, tests: stillRed }] : [])],
    };
  }
  return last;
}

/** True if a run left tests or the suite itself red. A run of `self-heal verify` does not count. */
function isRed(report: Report): boolean {
  const isSuiteRed = report.causes.some((cause) => cause.tests.length === 0 && !isResolved(cause.verdict));
  return !report.verification && (isSuiteRed || listRedTests(report).length > 0);
}

/** True if one of these tests was red before, or if the suite itself was. */
function sharesTests({ tests }: LastRedRun, others: readonly ReportTest[]): boolean {
  const ids = new Set(others.map(({ id }) => id));
  return tests.length === 0 ? others.length === 0 : tests.some(({ id }) => ids.has(id));
}

/** True if one of these tests was green in a run. */
function hasGreenTest({ tests }: LastRedRun, report: Report | null): boolean {
  const ids = new Set(tests.map(({ id }) => id));
  return (report?.tests ?? []).some(({ id, verdict }) => verdict === 'passed' && ids.has(id));
}

/** Returns the ids of the tests that reproduce all red tests when they run. */
export async function listRerunIds(cwd: string, { redRuns }: Pick<LastRedRun, 'redRuns'>): Promise<string[]> {
  const ids = await Promise.all(redRuns.map((run) => listRerunIdsOfRun(cwd, run)));
  return [...new Set(ids.flat())];
}

/** Returns the ids of the tests that reproduce these results of a run: a serial test needs its group, and some tests need the tests before them. */
export async function listRerunIdsOfRun(
  cwd: string,
  { tests, runId }: { readonly tests: readonly { readonly id: string }[]; readonly runId: string },
): Promise<string[]> {
  const { failures } = await readFailureRecords(findRunDir(cwd, runId), { root: cwd });
  const rerunIds = new Map(
    failures.flatMap((failure) => listTests([failure]).map(({ id }) => [id, failure.rerunIds] as const)),
  );
  return [...new Set(tests.flatMap(({ id }) => rerunIds.get(id) ?? [id]))];
}
