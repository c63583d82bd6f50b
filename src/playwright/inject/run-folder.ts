import fs from 'node:fs';
import path from 'node:path';
import { tryOr } from '../../result.js';
import { injectEnv, type ReportLine, runFiles } from '../report-format.js';

/** The run's private folder, or undefined if self-heal did not start this process. */
export const runDir = process.env[injectEnv.dir];

/** Runs self-heal's own work, whose errors must not affect the user's run. On an error, records it and returns undefined. */
export function runGuarded<T>(problem: string, task: () => T): T | undefined {
  try {
    return task();
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const line = `${problem}: ${text.replaceAll('\n', ' ').slice(0, 2_000)}\n`;
    // The disk may be full.
    tryOr(undefined, () => runDir && fs.appendFileSync(path.join(runDir, runFiles.problems), line));
    return undefined;
  }
}

export function appendReport(line: ReportLine): void {
  if (runDir) fs.appendFileSync(path.join(runDir, runFiles.report), `${JSON.stringify(line)}\n`);
}
