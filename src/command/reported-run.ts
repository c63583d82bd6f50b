import { truncate } from '../outputs/truncate.js';
import { suiteCause } from '../outputs/matrix.js';
import { listSuite } from '../playwright/run-suite.js';
import {
  describeMissingShards,
  type PlaywrightReport,
  type Reports,
  createTestKey,
} from '../playwright/reports/report.js';
import { listSelectionArguments } from '../playwright/selection.js';
import { createEmptyRun, type SuiteRun, type TestResult } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { OpenRun } from './open-run.js';
import type { SuiteCallbacks } from '../heal/session.js';
import { countOutcomes } from './suite-runs.js';
import { groupBy } from '../group-by.js';

/** The first run, or the run that replaces it, and the tests that reports of other machines show as red. */
export interface ReportedRun {
  readonly run: SuiteRun;
  readonly reportedRed: ReadonlySet<string>;
}

/**
 * Runs the tests that the reports show as red or not run. This run yields the evidence: a report only says how each test ended and how long it
 * took. A test that is red in a report and green here is flaky (HL-7).
 */
export async function runReported(
  { request, bus, suites, playwright, signal }: OpenRun,
  reports: Reports,
  callbacks: SuiteCallbacks,
): Promise<Result<ReportedRun, Problem>> {
  const { cwd, env, filters, passThrough, options } = request;
  for (const message of listReportWarnings(reports)) bus.emit({ type: 'run.warning', message });
  const args = listSelectionArguments({ ...options, filters, passThrough });
  const list = (...more: string[]) => listSuite({ playwright, cwd, env, args: [...args, ...more] });
  const listed = await list();
  if (signal.aborted) return ok({ run: createEmptyRun('interrupted'), reportedRed: new Set() });
  // The suite does not load here, and running it shows why.
  if (listed.tests.length === 0) {
    const run = await suites.rerun({ ids: null, purpose: 'first', causeId: null, callbacks });
    return ok({ run, reportedRed: new Set() });
  }
  const found = await matchReportedTests(listed, reports.reports, (shard) => list(`--shard=${shard}`));
  const matched = found.ok ? selectCauses(found.value, parseCauseFlag(options.cause)) : found;
  if (!matched.ok) return matched;
  bus.emit({ type: 'suite.started', purpose: 'first', causeId: null, tests: null });
  const { results, toRun } = matched.value;
  const reported = [...results.values()];
  bus.emit({ type: 'reports.read', total: reports.total, missing: [...reports.missing] });
  const durationMs = reported.reduce((sum, test) => sum + test.durationMs, 0);
  bus.emit({ type: 'suite.ended', purpose: 'first', causeId: null, ...countOutcomes(reported), durationMs });
  const greenRun = { ...listed, status: 'passed', exitCode: 0, tests: reported } as const;
  if (toRun.size === 0) return ok({ run: greenRun, reportedRed: new Set() });
  const ids = addSerialGroups(toRun, listed);
  const rerun = await suites.rerun({ ids, purpose: 'confirm', causeId: null, callbacks });
  const local = new Map(rerun.tests.map((result) => [result.test.id, result]));
  const tests = [...new Map([...results, ...local])].map(([id, now]) => mergeResults(results.get(id), now));
  const red = reported.filter(({ outcome }) => outcome === 'unexpected');
  return ok({ run: { ...rerun, tests }, reportedRed: new Set(red.map(({ test }) => test.id)) });
}

/** The tests of the reports, with the ids that they have here. */
interface ReportedTests {
  /** The reported result of each test, by id. */
  readonly results: ReadonlyMap<string, TestResult>;
  /** The ids of the tests that were red or did not run. */
  readonly toRun: ReadonlySet<string>;
}

/** Returns the ids in `--cause`, which are test ids of the chosen causes; null for all causes. */
function parseCauseFlag(causes: readonly string[] | undefined): ReadonlySet<string> | null {
  const ids = (causes ?? []).flatMap((names) => names.split(',')).filter((id) => id !== '');
  return ids.length === 0 || ids.includes(suiteCause) ? null : new Set(ids);
}

/** Drops the tests of causes that `--cause` does not name, because other machines heal them. */
function selectCauses(
  found: ReportedTests,
  causeIds: ReadonlySet<string> | null,
): Result<ReportedTests, Problem> {
  if (causeIds === null) return ok(found);
  const toRun = new Set([...found.toRun].filter((id) => causeIds.has(id)));
  const results = new Map([...found.results].filter(([id]) => !found.toRun.has(id) || causeIds.has(id)));
  if (toRun.size > 0) return ok({ toRun, results });
  return err({
    kind: 'usage',
    message: '--cause names no test that is red in the reports',
    remedy:
      'Use an id that `self-heal heal --from … --list` prints for the same reports and the same commit.',
  });
}

/** Finds the reported tests in the suite of this project. */
async function matchReportedTests(
  { tests }: SuiteRun,
  reports: readonly PlaywrightReport[],
  listShard: (shard: string) => Promise<SuiteRun>,
): Promise<Result<ReportedTests, Problem>> {
  const byKey = groupBy(tests, ({ test }) => createTestKey(test.project, test.titlePath));
  const results = new Map<string, TestResult>();
  const unknown = new Set<string>();
  const idsOfRedShards = new Set<string>();
  for (const { shard, isSuiteRed, tests: reported } of reports) {
    for (const { key, outcome, durationMs } of reported) {
      const matches = byKey.get(key) ?? [];
      if (matches.length === 0 && outcome === 'unexpected') unknown.add(key);
      for (const { test } of matches)
        results.set(test.id, chooseWorse(results.get(test.id), { test, outcome, retries: 0, durationMs }));
    }
    if (!isSuiteRed || shard === null) continue;
    const part = shard.total === 1 ? tests : (await listShard(`${shard.current}/${shard.total}`)).tests;
    for (const { test } of part) idsOfRedShards.add(test.id);
  }
  if (unknown.size > 0) return err(createUnknownTestsProblem([...unknown]));
  const toRun = [...results.values()].filter(
    ({ outcome }) => outcome === 'unexpected' || outcome === 'not-run',
  );
  const unreported = [...idsOfRedShards].filter((id) => !results.has(id));
  return ok({ results, toRun: new Set([...toRun.map(({ test }) => test.id), ...unreported]) });
}

const outcomes: readonly TestResult['outcome'][] = ['skipped', 'not-run', 'expected', 'flaky', 'unexpected'];

/** Several reports may name the same test, such as a setup project's; its worst outcome counts. */
function chooseWorse(before: TestResult | undefined, now: TestResult): TestResult {
  return before && outcomes.indexOf(before.outcome) >= outcomes.indexOf(now.outcome) ? before : now;
}

/** Merges a test's results: red in the reports and green here is flaky, and a test that did not run here keeps its reported result. */
function mergeResults(reported: TestResult | undefined, local: TestResult): TestResult {
  if (reported?.outcome === 'unexpected' && isGreen(local)) return { ...local, outcome: 'flaky' };
  return reported && local.outcome === 'not-run' ? reported : local;
}

function isGreen(result: TestResult | undefined): boolean {
  return result?.outcome === 'expected' || result?.outcome === 'flaky';
}

/** Adds the other tests of each serial group: they cannot run alone, and no report names the groups. */
function addSerialGroups(ids: ReadonlySet<string>, { serial = [] }: SuiteRun): string[] {
  return [...new Set([...ids, ...serial.filter((group) => group.some((id) => ids.has(id))).flat()])];
}

const MAX_LISTED = 10;

function createUnknownTestsProblem(keys: readonly string[]): Problem {
  const more = keys.length > MAX_LISTED ? [`  and ${keys.length - MAX_LISTED} more`] : [];
  const lines = keys.slice(0, MAX_LISTED).map((key) => `  ${truncate(key, 200)}`);
  return {
    kind: 'usage',
    message: 'the reports name red tests that are not among those selected here',
    detail: [...lines, ...more].join('\n'),
    remedy:
      'Check out the commit of the reports, and give `self-heal heal` the flags and filters of their runs. self-heal does not take these from the reports, because they decide which code runs.',
  };
}

/** Warns if the reports are incomplete or may not match the code here. */
function listReportWarnings(reports: Reports): string[] {
  const missingShards = describeMissingShards(reports);
  const [unknown, ...others] = reports.reports.filter(({ commit }) => commit === null);
  const othersToo = others.length > 0 ? ` and ${others.length} more do` : ' does';
  return [
    ...(missingShards === null ? [] : [missingShards]),
    ...(unknown ? [`${unknown.name}${othersToo} not name the commit that ran: it may not be this one.`] : []),
    ...(reports.hasUncommittedChanges
      ? [
          'There are uncommitted changes here: a test that was red without them may be green, or red for another reason.',
        ]
      : []),
  ];
}
