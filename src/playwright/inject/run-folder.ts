import fs from 'node:fs';
import path from 'node:path';
import { tryOr } from '../../result.js';
import { injectEnv, type ReportLine, runFiles } from '../report-format.js';

/** The run's private folder, or undefined if self-heal did not start this process. */
export const dir = process.env[injectEnv.dir];

/** Runs self-heal's own work, whose errors must not affect the user's run. On an error, records it and returns undefined. */
export function runGuarded<T>(problem: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const line = `${problem}: ${text.replaceAll('\n', ' ').slice(0, 2_000)}\n`;
    // The disk may be full.
    tryOr(undefined, () => dir && fs.appendFileSync(path.join(dir, runFiles.problems), line));
    return undefined;
  }
}

export function appendReport(line: ReportLine): void {
  if (dir) fs.appendFileSync(path.join(dir, runFiles.report), `${JSON.stringify(line)}\n`);
}
