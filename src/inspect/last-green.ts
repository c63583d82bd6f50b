import { readReport, runIdsIn, runsFolder } from './find-run.js';
import path from 'node:path';

/** Runs that are looked through, the newest first. */
const RUNS = 50;

/**
 * Looks for the commit of the newest run here that saw a test green by itself, with nothing uncommitted; null where none did. The runs are read once,
 * when the first test is asked about.
 */
export function lastGreenCommits(projectRoot: string): (testId: string) => Promise<string | null> {
  let read: Promise<ReadonlyMap<string, string>> | null = null;
  return async (testId) => (await (read ??= greenCommits(projectRoot))).get(testId) ?? null;
}

/** By the test's id. */
async function greenCommits(projectRoot: string): Promise<ReadonlyMap<string, string>> {
  const commits = new Map<string, string>();
  for (const runId of (await runIdsIn(projectRoot)).toReversed().slice(0, RUNS)) {
    const report = await readReport(path.join(runsFolder(projectRoot), runId));
    if (!report?.commit) continue;
    for (const { id, verdict } of report.tests)
      if (verdict === 'passed' && !commits.has(id)) commits.set(id, report.commit);
  }
  return commits;
}
