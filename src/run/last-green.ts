import { git } from '../workspace/git.js';
import type { Report } from './report.js';
import { runDirOf } from './run-folder.js';
import { readReport, runIdsIn } from './find-run.js';

/** How many runs are searched, newest first. */
const RUNS = 50;

/**
 * Finds the newest commit in the history of HEAD at which a test passed here without a fix and without uncommitted changes; null if there is none.
 * The runs are read once, for the first test. The store does not know this, because a green run never opens it (CL-4).
 */
export function lastGreenCommits(projectRoot: string): (testId: string) => Promise<string | null> {
  let read: Promise<ReadonlyMap<string, string>> | null = null;
  return async (testId) => (await (read ??= greenCommits(projectRoot))).get(testId) ?? null;
}

/** Returns the commits by test id. */
async function greenCommits(projectRoot: string): Promise<ReadonlyMap<string, string>> {
  const commits = new Map<string, string>();
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
    for (const { id, verdict } of report.tests)
      if (verdict === 'passed' && !commits.has(id)) commits.set(id, commit);
  }
  return commits;
}

/** Returns the commit of a run; null if changes of agents were applied during it. */
function commitOf({ commit, causes }: Report): string | null {
  const isChanged = causes.some(({ attempts }) => attempts.some(({ change }) => change !== null));
  return isChanged ? null : commit;
}
