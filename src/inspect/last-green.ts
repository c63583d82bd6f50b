import { git } from '../git.js';
import type { Report } from '../run/report.js';
import { runDirOf } from '../run/run-folder.js';
import { readReport, runIdsIn } from '../run/find-run.js';

/** Runs that are looked through, the newest first. */
const RUNS = 50;

/**
 * Looks for the newest commit below HEAD at which a run here saw a test green by itself, with nothing uncommitted; null where none did. The runs are
 * read once, when the first test is asked about. The store does not know: a green run opens none (CL-4).
 */
export function lastGreenCommits(projectRoot: string): (testId: string) => Promise<string | null> {
  let read: Promise<ReadonlyMap<string, string>> | null = null;
  return async (testId) => (await (read ??= greenCommits(projectRoot))).get(testId) ?? null;
}

/** By the test's id. */
async function greenCommits(projectRoot: string): Promise<ReadonlyMap<string, string>> {
  const commits = new Map<string, string>();
  const below = new Map<string, boolean>();
  for (const runId of (await runIdsIn(projectRoot)).toReversed().slice(0, RUNS)) {
    const report = await readReport(runDirOf(projectRoot, runId));
    const commit = report && commitOf(report);
    if (!commit) continue;
    // One of another branch, or from before a rebase, is not on the way to what is here.
    const isBelow =
      below.get(commit) ?? (await git(projectRoot, ['merge-base', '--is-ancestor', commit, 'HEAD'])) !== null;
    below.set(commit, isBelow);
    if (!isBelow) continue;
    for (const { id, verdict } of report.tests)
      if (verdict === 'passed' && !commits.has(id)) commits.set(id, commit);
  }
  return commits;
}

/** The commit that what passed passed on: none where an earlier run's word was taken over, or agents' changes were in for a while. */
function commitOf({ commit, resumedFrom, causes }: Report): string | null {
  const isChanged = causes.some(({ attempts }) => attempts.some(({ change }) => change !== null));
  return resumedFrom === undefined && !isChanged ? commit : null;
}
