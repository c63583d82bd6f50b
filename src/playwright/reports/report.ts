import type { Problem } from '../../problem.js';
import type { TestResult } from '../suite-run.js';

/** The part of a suite that one machine ran, counted from 1. The whole suite is 1 of 1. */
interface Shard {
  readonly current: number;
  readonly total: number;
}

/** The result of a test in another run. */
export interface ReportedTest {
  /** Identifies it in every checkout of the same commit: see `createTestKey`. */
  readonly key: string;
  readonly outcome: TestResult['outcome'];
  readonly durationMs: number;
}

/** Playwright's report of another run, most likely on another machine. It is untrusted input. */
export interface PlaywrightReport {
  /** Its path relative to the current folder, for messages. */
  readonly name: string;
  /** Null if the format does not contain it. */
  readonly shard: Shard | null;
  /** Null if Playwright did not record it (it needs `captureGitInfo` or a CI system that it knows). */
  readonly commit: string | null;
  /** True if the suite itself failed or was interrupted, so that its list of tests may be incomplete. */
  readonly isSuiteRed: boolean;
  readonly tests: readonly ReportedTest[];
}

/**
 * Creates the key that a test has in every report and in the suite here: the name of its project, its file relative to the folder of the tests, and
 * its titles. Not every report has ids. With `repeatEach`, several tests have the same key.
 */
export function createTestKey(project: string, titles: readonly string[]): string {
  return `[${project}] › ${titles.filter((title) => title !== '').join(' › ')}`.replaceAll('\\', '/');
}

/** The number of a suite's shards, and the shards without a report. */
export interface ShardCount {
  readonly total: number;
  readonly missing: readonly number[];
}

/** The reports of other runs that a run heals from. */
export interface Reports extends ShardCount {
  readonly reports: readonly PlaywrightReport[];
  /** True if all reports are from the checked-out commit. */
  readonly matchesCommit: boolean;
  /** True if there are uncommitted changes here. */
  readonly hasUncommittedChanges: boolean;
}

/** Counts the shards. A report without a shard counts as one. */
export function countShards(reports: readonly PlaywrightReport[]): ShardCount {
  const present = new Set(listShardReports(reports).map(({ shard }) => shard.current));
  const total = listShardReports(reports)[0]?.shard.total ?? reports.length;
  const all = Array.from({ length: total }, (_, index) => index + 1);
  return { total, missing: present.size === 0 ? [] : all.filter((shard) => !present.has(shard)) };
}

/** Returns a `Problem` with the reports that cannot be used at this commit, or null. */
export function checkReports(reports: readonly PlaywrightReport[], commit: string | null): Problem | null {
  return findOtherCommit(reports, commit) ?? findOtherTotal(reports) ?? findDuplicates(reports);
}

/** Creates the problem that shards are missing. */
export function createMissingShardsProblem(reports: readonly PlaywrightReport[], count: ShardCount): Problem {
  return {
    kind: 'input-unreadable',
    message: listMissingShards(count),
    detail: formatList(listShardReports(reports), formatShard),
    remedy:
      'A shard that could not start leaves no report: check its job. To heal the failures of the other shards, add --allow-missing-shards.',
  };
}

/** Returns a report's warning about missing shards; null if none is missing. */
export function describeMissingShards(count: ShardCount): string | null {
  if (count.missing.length === 0) return null;
  const whose = count.missing.length === 1 ? 'its' : 'their';
  return `${listMissingShards(count)}: ${whose} tests are not in this report and were not healed.`;
}

/** `Shards 2, 5 and 7 of 20 are missing` */
function listMissingShards({ missing, total }: ShardCount): string {
  const last = missing.at(-1);
  if (missing.length === 1) return `Shard ${last} of ${total} is missing`;
  return `Shards ${missing.slice(0, -1).join(', ')} and ${last} of ${total} are missing`;
}

function findOtherCommit(reports: readonly PlaywrightReport[], commit: string | null): Problem | null {
  const others = reports.filter((report) => report.commit !== null && report.commit !== commit);
  const [first] = others;
  if (!first) return null;
  return {
    kind: 'usage',
    message: `${shortenCommit(commit)} is checked out here, but the reports are from other commits`,
    detail: formatList(others, (report) => shortenCommit(report.commit)),
    remedy: `Check out the commit of the reports (git checkout ${shortenCommit(first.commit)}), or run the suite again on this one.`,
  };
}

function findOtherTotal(reports: readonly PlaywrightReport[]): Problem | null {
  const sharded = listShardReports(reports);
  if (sharded.every(({ shard }) => shard.total === sharded[0]?.shard.total)) return null;
  return {
    kind: 'usage',
    message: 'these reports come from runs that were split differently',
    detail: formatList(sharded, formatShard),
    remedy: 'Name only the reports of one run of the suite.',
  };
}

function findDuplicates(reports: readonly PlaywrightReport[]): Problem | null {
  const sharded = listShardReports(reports);
  const duplicated = sharded.filter(
    ({ shard }) => sharded.filter((other) => other.shard.current === shard.current).length > 1,
  );
  if (duplicated.length === 0) return null;
  return {
    kind: 'usage',
    message: 'a shard appears more than once',
    detail: formatList(duplicated, formatShard),
    remedy: 'Remove the older report: re-running a job leaves a second one, and so does a second reporter.',
  };
}

type ShardReport = PlaywrightReport & { readonly shard: Shard };

function listShardReports(reports: readonly PlaywrightReport[]): ShardReport[] {
  return reports.flatMap((report) => (report.shard ? { ...report, shard: report.shard } : []));
}

function formatShard({ shard }: ShardReport): string {
  return `shard ${shard.current}/${shard.total}`;
}

const MAX_LISTED = 30;

function formatList<T extends PlaywrightReport>(
  reports: readonly T[],
  describe: (report: T) => string,
): string {
  const lines = reports.slice(0, MAX_LISTED).map((report) => `  ${report.name}: ${describe(report)}`);
  const more = reports.length - lines.length;
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
}

function shortenCommit(commit: string | null): string {
  return commit === null ? 'no commit' : commit.slice(0, 12);
}
