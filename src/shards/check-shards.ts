import type { Problem } from '../problem.js';
import type { FoundShard } from './find-shards.js';

/** The project as checked out here, which the shards must match. */
export interface Here {
  readonly project: string;
  /** The project's folder in its repository, with forward slashes; empty for the repository's root. */
  readonly place: string;
  readonly commit: string | null;
  readonly selection: readonly string[];
}

/** How many shards a suite has, and which of them left nothing. */
export interface ShardCount {
  readonly total: number;
  readonly missing: readonly number[];
}

/** Returns why these shards cannot be healed here, naming each one at fault; null if they can. Pure. */
export function refusalOf(found: readonly FoundShard[], here: Here): Problem | null {
  return (
    otherProject(found, here) ??
    otherCommit(found, here) ??
    otherSelection(found, here) ??
    otherTotal(found) ??
    sameTwice(found)
  );
}

/** Returns the numbers of the shards that left nothing. */
export function missingShards(found: readonly FoundShard[]): number[] {
  const there = new Set(found.map(({ shard }) => shard.current));
  const total = totalOf(found);
  return Array.from({ length: total }, (_, at) => at + 1).filter((one) => !there.has(one));
}

/** Returns how many shards the suite was split into. */
export function totalOf(found: readonly FoundShard[]): number {
  return found[0]?.shard.total ?? 1;
}

/** Returns a report's warning about missing shards; null if none is missing. */
export function missingWarning({ total, missing }: ShardCount): string | null {
  if (missing.length === 0) return null;
  const whose = missing.length === 1 ? 'its' : 'their';
  return `${missingWords(missing, total)}: ${whose} tests are not in this report and were not healed.`;
}

/** Names the missing shards and refuses to heal without them. */
export function missing(found: readonly FoundShard[], numbers: readonly number[]): Problem {
  return {
    kind: 'input-unreadable',
    message: missingWords(numbers, totalOf(found)),
    detail: listed(found, ({ shard }) => `shard ${shard.current}/${shard.total}`),
    remedy:
      'A shard that could not start leaves no artifact: check its job. To heal the failures of the other shards, add --allow-missing-shards.',
  };
}

function missingWords(numbers: readonly number[], total: number): string {
  return `${numbersOf(numbers)} of ${total} ${numbers.length === 1 ? 'is' : 'are'} missing`;
}

/** `Shards 2, 5 and 7`. */
export function numbersOf(numbers: readonly number[]): string {
  const last = numbers.at(-1);
  if (numbers.length === 1) return `Shard ${last}`;
  return `Shards ${numbers.slice(0, -1).join(', ')} and ${last}`;
}

function otherProject(found: readonly FoundShard[], { project, place }: Here): Problem | null {
  const named = (name: string, folder: string) => (folder === '' ? name : `${name} in ${folder}`);
  const own = named(project, place);
  const nameOf = (one: FoundShard) =>
    one.kind === 'collected' ? named(one.collected.project, one.collected.place) : own;
  const others = found.filter((one) => nameOf(one) !== own);
  if (others.length === 0) return null;
  return {
    kind: 'usage',
    message: `this project is ${own}, but the shards come from another project`,
    detail: listed(others, nameOf),
    remedy: 'Run `self-heal heal` in the folder where the shards ran `self-heal run`.',
  };
}

function otherCommit(found: readonly FoundShard[], { commit }: Here): Problem | null {
  // Playwright does not always record the commit in a blob report.
  const commitOf = (one: FoundShard) =>
    one.kind === 'collected' ? one.collected.commit : (one.blob.commit ?? commit);
  const others = found.filter((one) => commitOf(one) !== commit);
  const [first] = others;
  if (!first) return null;
  return {
    kind: 'usage',
    message: `${shown(commit)} is checked out here, but the shards ran on other commits`,
    detail: listed(others, (one) => shown(commitOf(one))),
    remedy: `Check out the commit of the shards (git checkout ${shown(commitOf(first))}), or collect again on this one.`,
  };
}

function otherSelection(found: readonly FoundShard[], { selection }: Here): Problem | null {
  const words = (list: readonly string[]) => (list.length === 0 ? 'the whole suite' : list.join(' '));
  const own = words(selection);
  const testsOf = (one: FoundShard) => (one.kind === 'collected' ? words(one.collected.selection) : own);
  const others = found.filter((one) => testsOf(one) !== own);
  if (others.length === 0) return null;
  return {
    kind: 'usage',
    message: `this would heal ${own}, but the shards ran other tests`,
    detail: listed(others, testsOf),
    remedy:
      'Give `self-heal heal` the same flags and filters as the shards. They are not read from the artifacts, since they decide which code runs.',
  };
}

function otherTotal(found: readonly FoundShard[]): Problem | null {
  if (found.every(({ shard }) => shard.total === totalOf(found))) return null;
  return {
    kind: 'usage',
    message: 'these shards come from suites that were split differently',
    detail: listed(found, ({ shard }) => `shard ${shard.current}/${shard.total}`),
    remedy: 'Name only the folders of one run of the suite.',
  };
}

function sameTwice(found: readonly FoundShard[]): Problem | null {
  const twice = found.filter(
    ({ shard }) => found.filter((one) => one.shard.current === shard.current).length > 1,
  );
  if (twice.length === 0) return null;
  return {
    kind: 'usage',
    message: 'a shard appears more than once',
    detail: listed(twice, ({ shard }) => `shard ${shard.current}/${shard.total}`),
    remedy: 'Leave out the older one: a job that was re-run leaves a second folder.',
  };
}

const mostListed = 30;

function listed(found: readonly FoundShard[], says: (one: FoundShard) => string): string {
  const lines = found.slice(0, mostListed).map((one) => `  ${one.name}: ${says(one)}`);
  const more = found.length - lines.length;
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
}

function shown(commit: string | null): string {
  return commit === null ? 'no commit' : commit.slice(0, 12);
}
