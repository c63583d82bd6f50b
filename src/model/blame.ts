import { z } from 'zod';
import { changeId, count, listOf, textList } from './shape.js';

/** A block of lines that differs between two states of a file. */
const hunkShape = z.object({
  /** Path with `/` as the separator. */
  file: z.string(),
  /** The lines before the change, and the lines now. */
  old: textList,
  now: textList,
});
export type Hunk = z.infer<typeof hunkShape>;

/** A hunk between the green state and now. `file` is relative to the project's root; lines have no line breaks, and long ones are cut. */
const blamedHunkShape = hunkShape.extend({
  /** The hunk's first line now, counted from 1; if it only removed lines, the line after them. */
  line: count,
  /** True if the whole file was added, removed or replaced. */
  whole: z.boolean(),
  /** The last commit that touched the hunk, with its date in ISO 8601; null if it is not committed. */
  commit: z.object({ id: z.string(), author: z.string(), date: z.string(), subject: z.string() }).nullable(),
  /** True if it is in a test file: reverting it would change the test. */
  inTests: z.boolean(),
});
export type BlamedHunk = z.infer<typeof blamedHunkShape>;

/** A commit between the green state and now. */
export type BlamedCommit = NonNullable<BlamedHunk['commit']>;

/** The state in which a search assumes the test to be green. If the test is red there too, no later change is to blame. */
const blameBaseShape = z.object({
  commit: z.string(),
  /**
   * The newest commit at which a run here saw the test green, the start of the branch, the last commit, one some commits before it, or a commit
   * that the user named.
   */
  from: z.enum(['last-green', 'merge-base', 'head', 'recent', 'named']),
});
export type BlameBase = z.infer<typeof blameBaseShape>;

/** The changes since a test was green, or else the latest ones, found without running tests. */
export interface Changes {
  readonly base: BlameBase;
  /** The commit that most likely broke the test; null for uncommitted changes. */
  readonly commit: BlamedCommit | null;
  /** Its hunks in the app, most relevant first. */
  readonly hunks: readonly Omit<BlamedHunk, 'inTests'>[];
  /** The other commits, and the uncommitted changes (null), with their files. */
  readonly others: readonly { readonly commit: BlamedCommit | null; readonly files: readonly string[] }[];
  /** Packages whose version changed, and where the app imports them: `marked 4.3.0 → 15.0.12, imported at src/render.mjs:1`. */
  readonly packages: readonly string[];
}

/** The change that broke a test: the smallest set of hunks whose reversal turns it green (BL-1). */
export const blameShape = z.object({
  base: blameBaseShape,
  hunks: listOf(blamedHunkShape),
  /** True if runs have shown that reverting a part of it does not suffice; otherwise it is the best set found within the limits. */
  isMinimal: z.boolean(),
  /** What ended the search early, or null; `edit`: somebody edited files during a run, so its result was useless. */
  endedBy: z.enum(['time', 'interrupt', 'edit']).nullable(),
  /** The number of hunks that were candidates. */
  outOf: count,
  /** The number of Playwright runs, and how many of them had no result because the app did not build or start, or the test was missing. */
  runs: count,
  unresolved: count,
  durationMs: count,
  /** Id of the change that reverts it (`.self-heal/changes/<run-id>/<id>.json`). */
  change: changeId,
});
export type Blame = z.infer<typeof blameShape>;

/** True if self-heal can offer to revert it: none of its hunks is in a test file. */
export function canBeReverted(blame: Blame | null | undefined): blame is Blame {
  return blame != null && blame.hunks.every((hunk) => !hunk.inTests);
}

/** True if a search has narrowed the changes down to one commit or part of it. Otherwise most of the hunks are innocent, and none is named. */
export function isNarrowedDown({ hunks, isMinimal }: Blame): boolean {
  return isMinimal || new Set(hunks.map(({ commit }) => commit?.id ?? null)).size === 1;
}

/** Returns the position of the first hunk: `src/cart.ts:12`; empty if the changes are not narrowed down. */
export function formatBlamePosition(blame: Blame): string {
  const [first] = isNarrowedDown(blame) ? blame.hunks : [];
  return first ? `${first.file}:${first.line}` : '';
}

/** Describes the result of a search, preceded by its position if it has one. */
export function describeBlameWithPosition(blame: Blame): string {
  const at = formatBlamePosition(blame);
  return `${at}${at === '' ? '' : ': '}${describeBlame(blame)}`;
}

/** Describes the result of a search in one sentence, in which "it" is the cause: one test, several, or the suite itself. `quote` formats file names. */
export function describeBlame(blame: Blame, quote = (file: string) => file): string {
  const { hunks, base, outOf, runs } = blame;
  if (!isNarrowedDown(blame)) {
    const size = hunks.length === outOf ? `all ${outOf}` : `${hunks.length} of the ${outOf}`;
    return `It is green with ${size} changes since ${shortenId(base.commit)} reverted; ${runs} runs have not narrowed them down to a commit`;
  }
  const commits = [...new Set(hunks.map(({ commit }) => commit?.id ?? null))];
  const [only] = commits;
  const onlyCommit = commits.length === 1 && only ? shortenId(only) : null;
  const before = onlyCommit ? `before ${onlyCommit}` : `at ${shortenId(base.commit)}`;
  const uncommitted = commits.includes(null) ? ' (not committed)' : '';
  const size = `${describeSize(hunks)} of ${describeFiles(hunks, quote)}`;
  const best = blame.isMinimal ? '' : ` (best result of ${runs} runs; fewer lines may suffice)`;
  // Without an earlier green run, the test may be new and may never have been green.
  if (base.from !== 'last-green')
    return `Reverting ${size}${onlyCommit ? ` (${onlyCommit})` : uncommitted} turns it green${best}`;
  return `It was green ${before}; reverting ${size}${uncommitted} turns it green${best}`;
}

/** Describes the size as added lines or removed lines, or as both counts if there are both. */
function describeSize(hunks: readonly BlamedHunk[]): string {
  const added = hunks.reduce((sum, { now }) => sum + now.length, 0);
  const removed = hunks.reduce((sum, { old }) => sum + old.length, 0);
  if (added === 0) return removed === 1 ? 'the removal of a line' : `the removal of ${removed} lines`;
  if (removed === 0) return added === 1 ? 'this line' : `these ${added} lines`;
  return `${hunks.length === 1 ? 'this change' : `these ${hunks.length} changes`} (+${added} −${removed})`;
}

const MAX_FILES_NAMED = 3;

function describeFiles(hunks: readonly BlamedHunk[], quote: (file: string) => string): string {
  const files = [...new Set(hunks.map(({ file }) => quote(file)))];
  const more = files.length - MAX_FILES_NAMED;
  return `${files.slice(0, MAX_FILES_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A commit's id as git abbreviates it. */
export function shortenId(commit: string): string {
  return commit.slice(0, 7);
}
