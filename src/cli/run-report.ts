import process from 'node:process';
import { findRun, type StoredRun } from '../run/find-run.js';
import { exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import type { Report } from '../run/report.js';
import { showSummary } from '../outputs/leave-result.js';
import { openInBrowser } from '../outputs/open-in-browser.js';
import { pidAtWork } from '../run/run-journal.js';
import { print } from './end.js';
import { reasonOf } from '../reason-of.js';
import { relativePath } from '../relative-path.js';

/** The flags of `self-heal report`. */
export interface ReportOptions {
  open?: boolean;
  json?: boolean;
}

/** Runs `self-heal report`; returns the exit code, or the problem with the run. */
export async function runReport(
  word: string | undefined,
  { open, json }: ReportOptions,
): Promise<number | Problem> {
  const cwd = process.cwd();
  const run = await findRun(cwd, word ?? null);
  if (!run.ok) return run.error;
  const { report: found, dir } = run.value;
  if (found === null) return untold(run.value);
  if (found.exitCode === null && (await pidAtWork(dir)) !== null) return atWork(run.value);
  if (json) return print(found);
  const shown = relativePath(cwd, dir);
  const file = await write(found, { dir, shown });
  if (typeof file !== 'string') return file;
  showSummary(found, { cwd, env: process.env });
  print(file);
  if (open) await openInBrowser(file);
  return exitCodes.green;
}

async function write(found: Report, folder: { dir: string; shown: string }): Promise<string | Problem> {
  // Loaded on demand, since no other command needs this code.
  const { writeHtmlReport } = await import('../outputs/html/write-html-report.js');
  try {
    return await writeHtmlReport(found, folder);
  } catch (error) {
    return {
      kind: 'folder-not-writable',
      message: `report.html could not be written into ${folder.dir}`,
      detail: reasonOf(error),
      remedy: 'Make the folder writable, or free some disk space.',
    };
  }
}

function untold({ runId }: StoredRun): Problem {
  return {
    kind: 'run-missing',
    message: `run ${runId} left no report, and its events.ndjson has no usable events`,
    remedy: 'Start a new run: self-heal run.',
  };
}

function atWork({ runId }: StoredRun): Problem {
  return {
    kind: 'run-missing',
    message: `run ${runId} is still running and has no report yet`,
    remedy: `self-heal ui follows it, and self-heal inspect ${runId} shows its evidence.`,
  };
}
