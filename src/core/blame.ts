/** A commit between the state that was green and now. */
export interface BlamedCommit {
  readonly id: string;
  readonly author: string;
  /** ISO 8601. */
  readonly date: string;
  readonly subject: string;
}

/** A stretch of lines that differs between two states of a file. */
export interface Hunk {
  /** With `/`. */
  readonly file: string;
  /** Its lines as they were, and as they are. */
  readonly old: readonly string[];
  readonly now: readonly string[];
}

/** One that differs between the state that was green and now; its file is relative to the project's root, its lines have no ends, and long ones are cut. */
export interface BlamedHunk extends Hunk {
  /** Where it stands now, from 1; where it only took lines out, the line that follows them. */
  readonly line: number;
  /** The whole file came, went, or was replaced. */
  readonly whole: boolean;
  /** The last commit that touched it; null for what is not committed. */
  readonly commit: BlamedCommit | null;
  /** It lies among the tests: reverting it would change what is tested. */
  readonly inTests: boolean;
}

/** The state that a search begins with: nothing of what came after it may be to blame when the test is red there too. */
export interface BlameBase {
  readonly commit: string;
  /** The newest commit at which a run here saw the test green; where the branch began; the last commit; or what a person named. */
  readonly from: 'last-green' | 'merge-base' | 'head' | 'named';
}

/** Which change broke a test: the smallest set of hunks found whose taking out turns it green (BL-1). */
export interface Blame {
  readonly base: BlameBase;
  readonly hunks: readonly BlamedHunk[];
  /** No smaller part of it will do, as runs have shown; else it is the best that the limits allowed. */
  readonly isMinimal: boolean;
  /** Which limit ended the search, or null. */
  readonly endedBy: 'runs' | 'time' | 'interrupt' | null;
  /** All hunks that came into question. */
  readonly outOf: number;
  /** Playwright runs that it took, and those among them that said nothing: the state did not build or start, or the test was not there. */
  readonly runs: number;
  readonly unresolved: number;
  readonly durationMs: number;
  /** The change that reverts it, in the run's folder (`.self-heal/changes/<run-id>/<id>.json`). */
  readonly change: string;
}

/** Whether reverting it could be offered: all of it lies in the app, and none in the tests. */
export function canBeReverted(blame: Blame | null | undefined): blame is Blame {
  return blame != null && blame.hunks.every((one) => !one.inTests);
}

/** `src/cart.ts:12` of the first hunk. */
export function placeOfBlame({ hunks }: Blame): string {
  const [first] = hunks;
  return first ? `${first.file}:${first.line}` : '';
}

/** The answer in one sentence. */
export function blameLine(blame: Blame): string {
  const { hunks, base } = blame;
  const commits = [...new Set(hunks.map(({ commit }) => commit?.id ?? null))];
  const [only] = commits;
  const what = commits.length === 1 && only ? shortId(only) : null;
  const before = what ? `before ${what}` : `at ${shortId(base.commit)}`;
  const uncommitted = commits.includes(null) ? ', which is not committed' : '';
  const best = blame.isMinimal ? '' : ` (the best of ${blame.runs} runs; it may be fewer)`;
  return `This test was green ${before}; taking out ${sizeOf(hunks)} of ${filesOf(hunks)}${uncommitted} turns it green${best}`;
}

/** Lines that came; where none came, those that went; where both did, how many of each. */
function sizeOf(hunks: readonly BlamedHunk[]): string {
  const added = hunks.reduce((sum, { now }) => sum + now.length, 0);
  const removed = hunks.reduce((sum, { old }) => sum + old.length, 0);
  if (added === 0) return removed === 1 ? 'the removal of a line' : `the removal of ${removed} lines`;
  if (removed === 0) return added === 1 ? 'this line' : `these ${added} lines`;
  return `${hunks.length === 1 ? 'this change' : `these ${hunks.length} changes`} (+${added} −${removed})`;
}

const FILES_NAMED = 3;

function filesOf(hunks: readonly BlamedHunk[]): string {
  const files = [...new Set(hunks.map(({ file }) => file))];
  const more = files.length - FILES_NAMED;
  return `${files.slice(0, FILES_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A commit's id as git abbreviates it. */
export function shortId(commit: string): string {
  return commit.slice(0, 7);
}
