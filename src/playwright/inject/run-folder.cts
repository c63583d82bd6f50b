import type { ReportLine } from '../report-format.js';

const fs = require('node:fs') as typeof import('node:fs');
const path = require('node:path') as typeof import('node:path');

/** The run's private folder, or undefined where self-heal did not start this process. */
const dir = process.env['SELF_HEAL_PLAYWRIGHT_DIR'];

/** Writes down a problem of our own; whatever happens here must never reach the user's run. */
function note(what: string, error: unknown): void {
  if (!dir) return;
  try {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    fs.appendFileSync(
      path.join(dir, 'problems.log'),
      `${what}: ${text.replaceAll('\n', ' ').slice(0, 2_000)}\n`,
    );
  } catch {
    // A full disk, say: there is nobody left to tell.
  }
}

/** Runs a piece of our own work; gives undefined where it throws. */
function guarded<T>(what: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    note(what, error);
    return undefined;
  }
}

let reportFile: number | undefined;

/** Appends one line to the report, which stays open: to open it for each of thousands of tests costs more than to write it. */
function report(line: ReportLine): void {
  if (!dir) return;
  reportFile ??= fs.openSync(path.join(dir, 'report.ndjson'), 'a');
  fs.appendFileSync(reportFile, `${JSON.stringify(line)}\n`);
}

/** Where the capture of one try of one test lies, or would lie. */
function captureFile(testId: string, retry: number): string {
  return path.join(dir ?? '', 'captures', `${testId.replaceAll(/[^\w-]/g, '_')}-${retry}.json`);
}

const api = { dir, note, guarded, report, captureFile };
module.exports = api;
export type Api = typeof api;
