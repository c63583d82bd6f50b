import fs from 'node:fs';
import path from 'node:path';
import { injectEnv, type ReportLine, runFiles } from '../report-format.js';

/** The run's private folder, or undefined if self-heal did not start this process. */
export const dir = process.env[injectEnv.dir];

/** Records one of self-heal's own problems; nothing that happens here may affect the user's run. */
function note(what: string, error: unknown): void {
  if (!dir) return;
  try {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    fs.appendFileSync(
      path.join(dir, runFiles.problems),
      `${what}: ${text.replaceAll('\n', ' ').slice(0, 2_000)}\n`,
    );
  } catch {
    // There is nowhere left to report it (a full disk, for example).
  }
}

/** Runs some of self-heal's own work; records what it throws and then returns undefined. */
export function guarded<T>(what: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    note(what, error);
    return undefined;
  }
}

export function report(line: ReportLine): void {
  if (dir) fs.appendFileSync(path.join(dir, runFiles.report), `${JSON.stringify(line)}\n`);
}
