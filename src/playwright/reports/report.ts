import type { Problem } from '../../problem.js';
import type { TestResult } from '../suite-run.js';

/** Which part of a suite one machine ran, counted from 1. The whole suite is 1 of 1. */
interface Shard {
  readonly current: number;
  readonly total: number;
}

/** How a test of another run ended. */
export interface ReportedTest {
  /** Identifies it in every checkout of the same commit: see `testKey`. */
  readonly key: string;
  readonly outcome: TestResult['outcome'];
  readonly durationMs: number;
}

/** A report that Playwright wrote of another run, most likely on another machine. Everything in it is untrusted. */
export interface PlaywrightReport {
  /** Its path relative to the current folder, for messages. */
  readonly name: string;
  /** Null if the format does not say. */
  readonly shard: Shard | null;
  /** Null if Playwright did not record it (it needs `captureGitInfo` or a CI system that it knows). */
  readonly commit: string | null;
  /** Whether the suite itself failed, or was interrupted: it may have ended before it knew all its tests. */
  readonly isSuiteRed: boolean;
  readonly tests: readonly ReportedTest[];
}

/**
 * Returns what identifies a test in a report as in the suite here: the name of its project, and its titles beginning with its file, relative to
 * the folder of the tests. Ids are not in every report. With `repeatEach`, several tests have the same key.
 */
export function testKey(project: string, titles: readonly string[]): string {
  return `[${project}] › ${titles.filter((title) => title !== '').join(' › ')}`.replaceAll('\\', '/');
}

/** How many shards a suite has, and which of them left no report. */
export interface ShardCount {
  readonly total: number;
  readonly missing: readonly number[];
}

/** The reports of other runs that a run heals from. */
export interface Reports extends ShardCount {
  readonly reports: readonly PlaywrightReport[];
  /** Whether all of them are known to be of exactly the commit that is checked out. */
  readonly isOfCommit: boolean;
  /** Whether there are uncommitted changes here. */
  readonly isDirtyHere: boolean;
}

/** Counts the shards; reports that do not say which shard they are count one each. */
export function countShards(reports: readonly PlaywrightReport[]): ShardCount {
  const there = new Set(withShard(reports).map(({ shard }) => shard.current));
  const total = withShard(reports)[0]?.shard.total ?? reports.length;
  const all = Array.from({ length: total }, (_, at) => at + 1);
  return { total, missing: there.size === 0 ? [] : all.filter((one) => !there.has(one)) };
}

/** Returns why these reports cannot be healed from at this commit, naming each one at fault; null if they can. Pure. */
export function refusalOf(reports: readonly PlaywrightReport[], commit: string | null): Problem | null {
  return otherCommit(reports, commit) ?? otherTotal(reports) ?? sameTwice(reports);
}

/** Names the missing shards and refuses to heal without them. */
export function missingShards(reports: readonly PlaywrightReport[], count: ShardCount): Problem {
  return {
    kind: 'input-unreadable',
    message: missingWords(count),
    detail: listed(withShard(reports), shardOf),
    remedy:
      'A shard that could not start leaves no report: check its job. To heal the failures of the other shards, add --allow-missing-shards.',
  };
}

/** Returns a report's warning about missing shards; null if none is missing. */
export function missingWarning(count: ShardCount): string | null {
  if (count.missing.length === 0) return null;
  const whose = count.missing.length === 1 ? 'its' : 'their';
  return `${missingWords(count)}: ${whose} tests are not in this report and were not healed.`;
}

/** `Shards 2, 5 and 7 of 20 are missing` */
function missingWords({ missing, total }: ShardCount): string {
  const last = missing.at(-1);
  if (missing.length === 1) return `Shard ${last} of ${total} is missing`;
  return `Shards ${missing.slice(0, -1).join(', ')} and ${last} of ${total} are missing`;
}

function otherCommit(reports: readonly PlaywrightReport[], commit: string | null): Problem | null {
  const others = reports.filter((one) => one.commit !== null && one.commit !== commit);
  const [first] = others;
  if (!first) return null;
  return {
    kind: 'usage',
    message: `${shown(commit)} is checked out here, but the reports are of other commits`,
    detail: listed(others, (one) => shown(one.commit)),
    remedy: `Check out the commit of the reports (git checkout ${shown(first.commit)}), or run the suite again on this one.`,
  };
}

function otherTotal(reports: readonly PlaywrightReport[]): Problem | null {
  const sharded = withShard(reports);
  if (sharded.every(({ shard }) => shard.total === sharded[0]?.shard.total)) return null;
  return {
    kind: 'usage',
    message: 'these reports come from runs that were split differently',
    detail: listed(sharded, shardOf),
    remedy: 'Name only the reports of one run of the suite.',
  };
}

function sameTwice(reports: readonly PlaywrightReport[]): Problem | null {
  const sharded = withShard(reports);
  const twice = sharded.filter(
    ({ shard }) => sharded.filter((one) => one.shard.current === shard.current).length > 1,
  );
  if (twice.length === 0) return null;
  return {
    kind: 'usage',
    message: 'a shard appears more than once',
    detail: listed(twice, shardOf),
    remedy:
      'Leave out the older one: a job that was re-run leaves a second report, and so does a second reporter.',
  };
}

type Sharded = PlaywrightReport & { readonly shard: Shard };

function withShard(reports: readonly PlaywrightReport[]): Sharded[] {
  return reports.flatMap((one) => (one.shard ? { ...one, shard: one.shard } : []));
}

function shardOf({ shard }: Sharded): string {
  return `shard ${shard.current}/${shard.total}`;
}

const mostListed = 30;

function listed<T extends PlaywrightReport>(reports: readonly T[], says: (one: T) => string): string {
  const lines = reports.slice(0, mostListed).map((one) => `  ${one.name}: ${says(one)}`);
  const more = reports.length - lines.length;
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
}

function shown(commit: string | null): string {
  return commit === null ? 'no commit' : commit.slice(0, 12);
}
