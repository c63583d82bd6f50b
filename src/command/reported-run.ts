import { cut } from '../outputs/cut.js';
import { suiteCause } from '../outputs/matrix.js';
import { listSuite } from '../playwright/run-suite.js';
import {
  describeMissingShards,
  type PlaywrightReport,
  type Reports,
  testKey,
} from '../playwright/reports/report.js';
import { listSelectionWords } from '../playwright/selection.js';
import { createEmptyRun, type SuiteRun, type TestResult } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { OpenRun } from './open-run.js';
import type { Watching } from '../heal/session.js';
import { tally } from './suite-runs.js';
import { groupBy } from '../group-by.js';

/** The run that replaces the first one, and the tests that the reports name as red. */
export interface ReportedRun {
  readonly run: SuiteRun;
  readonly reportedRed: ReadonlySet<string>;
}

/**
 * Runs here what the reports name as red or as not run. The evidence is that of this run: a report only says how each test ended and how long it
 * took. A test that is red there and green here is flaky (HL-7).
 */
export async function runReported(
  { request, bus, suites, playwright, signal }: OpenRun,
  reports: Reports,
  watching: Watching,
): Promise<Result<ReportedRun, Problem>> {
  const { cwd, env, filters, passThrough, options } = request;
  for (const message of warningsOf(reports)) bus.emit({ type: 'run.warning', message });
  const args = listSelectionWords({ ...options, filters, passThrough });
  const list = (...more: string[]) => listSuite({ playwright, cwd, env, args: [...args, ...more] });
  const listed = await list();
  if (signal.aborted) return ok({ run: createEmptyRun('interrupted'), reportedRed: new Set() });
  // The suite does not load here, and running it shows why.
  if (listed.tests.length === 0) {
    const run = await suites.again({ ids: null, purpose: 'first', causeId: null, watching });
    return ok({ run, reportedRed: new Set() });
  }
  const all = await testsHere(listed, reports.reports, (shard) => list(`--shard=${shard}`));
  const matched = all.ok ? ofCauses(all.value, testsNamed(options.cause)) : all;
  if (!matched.ok) return matched;
  bus.emit({ type: 'suite.started', purpose: 'first', causeId: null, tests: null });
  const { ended, open } = matched.value;
  const reported = [...ended.values()];
  bus.emit({ type: 'reports.read', total: reports.total, missing: [...reports.missing] });
  const durationMs = reported.reduce((sum, test) => sum + test.durationMs, 0);
  bus.emit({ type: 'suite.ended', purpose: 'first', causeId: null, ...tally(reported), durationMs });
  const none = { ...listed, status: 'passed', exitCode: 0, tests: reported } as const;
  if (open.size === 0) return ok({ run: none, reportedRed: new Set() });
  const ids = withSerialGroups(open, listed);
  const rerun = await suites.again({ ids, purpose: 'confirm', causeId: null, watching });
  const here = new Map(rerun.tests.map((result) => [result.test.id, result]));
  const tests = [...new Map([...ended, ...here])].map(([id, now]) => togetherOf(ended.get(id), now));
  const red = reported.filter(({ outcome }) => outcome === 'unexpected');
  return ok({ run: { ...rerun, tests }, reportedRed: new Set(red.map(({ test }) => test.id)) });
}

/** The tests of the reports, as they are named here. */
interface ReportedTests {
  /** How each test of the reports ended there, by its id here. */
  readonly ended: ReadonlyMap<string, TestResult>;
  /** The ids of those that were red or did not run. */
  readonly open: ReadonlySet<string>;
}

/** Returns the ids that `--cause` names; null for all tests. */
function testsNamed(causes: readonly string[] | undefined): ReadonlySet<string> | null {
  const ids = (causes ?? []).flatMap((names) => names.split(',')).filter((id) => id !== '');
  return ids.length === 0 || ids.includes(suiteCause) ? null : new Set(ids);
}

/** Leaves out the tests of causes that `--cause` does not name, which other machines heal. */
function ofCauses(all: ReportedTests, named: ReadonlySet<string> | null): Result<ReportedTests, Problem> {
  if (named === null) return ok(all);
  const open = new Set([...all.open].filter((id) => named.has(id)));
  const ended = new Map([...all.ended].filter(([id]) => !all.open.has(id) || named.has(id)));
  if (open.size > 0) return ok({ open, ended });
  return err({
    kind: 'usage',
    message: '--cause names no test that is red in the reports',
    remedy: 'Take it from `self-heal heal --from … --list`, of the same reports and the same commit.',
  });
}

/** Finds the tests of the reports in the suite here. */
async function testsHere(
  { tests }: SuiteRun,
  reports: readonly PlaywrightReport[],
  listShard: (shard: string) => Promise<SuiteRun>,
): Promise<Result<ReportedTests, Problem>> {
  const byKey = groupBy(tests, ({ test }) => testKey(test.project, test.titlePath));
  const ended = new Map<string, TestResult>();
  const unknown = new Set<string>();
  const notNamed = new Set<string>();
  for (const { shard, isSuiteRed, tests: reported } of reports) {
    for (const { key, outcome, durationMs } of reported) {
      const own = byKey.get(key) ?? [];
      if (own.length === 0 && outcome === 'unexpected') unknown.add(key);
      for (const { test } of own)
        ended.set(test.id, worse(ended.get(test.id), { test, outcome, retries: 0, durationMs }));
    }
    if (!isSuiteRed || shard === null) continue;
    const part = shard.total === 1 ? tests : (await listShard(`${shard.current}/${shard.total}`)).tests;
    for (const { test } of part) notNamed.add(test.id);
  }
  if (unknown.size > 0) return err(notHere([...unknown]));
  const open = [...ended.values()].filter(({ outcome }) => outcome === 'unexpected' || outcome === 'not-run');
  const never = [...notNamed].filter((id) => !ended.has(id));
  return ok({ ended, open: new Set([...open.map(({ test }) => test.id), ...never]) });
}

const outcomes: readonly TestResult['outcome'][] = ['skipped', 'not-run', 'expected', 'flaky', 'unexpected'];

/** Several reports may name the same test, such as that of a set-up project; its worst outcome counts. */
function worse(before: TestResult | undefined, now: TestResult): TestResult {
  return before && outcomes.indexOf(before.outcome) >= outcomes.indexOf(now.outcome) ? before : now;
}

/** A test that was red there and is green here is flaky; one that did not run here is as it was there. */
function togetherOf(there: TestResult | undefined, here: TestResult): TestResult {
  if (there?.outcome === 'unexpected' && isGreen(here)) return { ...here, outcome: 'flaky' };
  return there && here.outcome === 'not-run' ? there : here;
}

function isGreen(result: TestResult | undefined): boolean {
  return result?.outcome === 'expected' || result?.outcome === 'flaky';
}

/** A test of a serial group cannot run alone, and no report says that it belongs to one. */
function withSerialGroups(ids: ReadonlySet<string>, { serial = [] }: SuiteRun): string[] {
  return [...new Set([...ids, ...serial.filter((group) => group.some((id) => ids.has(id))).flat()])];
}

const mostListed = 10;

function notHere(keys: readonly string[]): Problem {
  const more = keys.length > mostListed ? [`  and ${keys.length - mostListed} more`] : [];
  const lines = keys.slice(0, mostListed).map((key) => `  ${cut(key, 200)}`);
  return {
    kind: 'usage',
    message: 'the reports name red tests that are not among those selected here',
    detail: [...lines, ...more].join('\n'),
    remedy:
      'Check out the commit of the reports, and give `self-heal heal` the same flags and filters as their runs. They are not read from the reports, since they decide which code runs.',
  };
}

/** Returns warnings about where the reports come from. */
function warningsOf(reports: Reports): string[] {
  const gone = describeMissingShards(reports);
  const [unknown, ...others] = reports.reports.filter(({ commit }) => commit === null);
  const also = others.length > 0 ? ` and ${others.length} more do` : ' does';
  return [
    ...(gone === null ? [] : [gone]),
    ...(unknown ? [`${unknown.name}${also} not name the commit that ran: it may not be this one.`] : []),
    ...(reports.isDirtyHere
      ? [
          'There are uncommitted changes here: what was red without them may be green, or red for another reason.',
        ]
      : []),
  ];
}
