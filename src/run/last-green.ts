import type { DiagnosedFailure } from '../model/cause.js';
import { git } from '../workspace/git.js';
import type { Report } from './report.js';
import { runDirOf } from './run-folder.js';
import { readReport, runIdsIn } from './find-run.js';

/** How many runs are searched, newest first. */
const RUNS = 50;

/** A run here without a fix, of a commit in the history of HEAD and without uncommitted changes. */
interface CleanRun {
  readonly commit: string;
  readonly ran: ReadonlySet<string>;
  readonly passed: ReadonlySet<string>;
}

/**
 * Returns the newest commit at which the test of a failure passed, in a run that also had the tests it needs; null if there is none, and for a failure
 * of the suite itself.
 */
export type LastGreen = (failed: Pick<DiagnosedFailure, 'failure' | 'needs'>) => Promise<string | null>;

/** Finds last green commits. The runs are read once, for the first test. The store does not know this, because a green run never opens it (CL-4). */
export function lastGreenCommits(projectRoot: string): LastGreen {
  let read: Promise<readonly CleanRun[]> | null = null;
  return async ({ failure, needs = [] }) => {
    if (failure.scope === 'suite') return null;
    const { id } = failure.test;
    const runs = await (read ??= cleanRuns(projectRoot));
    const green = runs.find(({ ran, passed }) => passed.has(id) && needs.every((needed) => ran.has(needed)));
    return green?.commit ?? null;
  };
}

/** Returns the runs, newest first. */
async function cleanRuns(projectRoot: string): Promise<readonly CleanRun[]> {
  const runs: CleanRun[] = [];
  const below = new Map<string, boolean>();
  for (const runId of (await runIdsIn(projectRoot)).toReversed().slice(0, RUNS)) {
    const report = await readReport(runDirOf(projectRoot, runId));
    const commit = report && commitOf(report);
    if (!commit) continue;
    // A commit of another branch, or from before a rebase, is not in the history of HEAD.
    const isBelow =
      below.get(commit) ?? (await git(projectRoot, ['merge-base', '--is-ancestor', commit, 'HEAD'])) !== null;
    below.set(commit, isBelow);
    if (!isBelow) continue;
    const ran = report.tests.filter(({ verdict }) => verdict !== 'skipped' && verdict !== 'not-run');
    const passed = ran.filter(({ verdict }) => verdict === 'passed');
    runs.push({ commit, ran: idsOf(ran), passed: idsOf(passed) });
  }
  return runs;
}

function idsOf(tests: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(tests.map(({ id }) => id));
}

/** Returns the commit of a run; null if changes of agents were applied during it. */
function commitOf({ commit, causes }: Report): string | null {
  const isChanged = causes.some(({ attempts }) => attempts.some(({ change }) => change !== null));
  return isChanged ? null : commit;
}
