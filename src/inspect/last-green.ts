import { readReport, runIdsIn, runsFolder } from './find-run.js';
import path from 'node:path';

/** Runs that are looked through, the newest first. */
const RUNS = 50;

/** The commit of the newest run here that saw a test green by itself, with nothing uncommitted; null where none did. */
export async function lastGreenCommit(projectRoot: string, testId: string): Promise<string | null> {
  const ids = (await runIdsIn(projectRoot)).toReversed().slice(0, RUNS);
  for (const runId of ids) {
    const report = await readReport(path.join(runsFolder(projectRoot), runId));
    const isGreen = report?.tests.some(({ id, verdict }) => id === testId && verdict === 'passed') ?? false;
    if (isGreen && report?.commit) return report.commit;
  }
  return null;
}
