import process from 'node:process';
import type { Command } from 'commander';
import { createAction, print } from './end-command.js';
import { findRun, type StoredRun } from '../run/find-run.js';
import { readRunPatch } from '../run/read-patch.js';
import { exitCodes } from '../model/exit-codes.js';
import { type Problem, describeError } from '../problem.js';
import type { Report } from '../run/report.js';
import { showSummary } from '../outputs/show-result.js';
import type { RunLocation } from '../outputs/html/load-run.js';
import { openInBrowser } from '../outputs/open-in-browser.js';
import { findActivePid } from '../run/run-journal.js';
import { createRedactor, type Redactor } from '../secrets/redactor.js';
import { relativePath } from '../paths.js';

const examples = `
Name a run by its id, the beginning of its id, or latest (the default). The path
of the page goes to standard output, the summary to standard error.

  self-heal report --open               open the last run in a browser
  self-heal report --patch              print what it changed, new files too
  self-heal report 20261121-0715 --json print its report.json`;

/** `self-heal report`: writes an earlier run as one HTML file, and prints its summary (RP-4). */
export function define(command: Command): Command {
  return command
    .argument('[run]', 'the run to report on (default: latest)')
    .option('--open', 'also open the page in a browser')
    .option('--patch', "print all of the run's changes as one patch instead of writing a page")
    .option('--json', 'print report.json instead of writing a page')
    .addHelpText('after', examples)
    .action(createAction(runReport));
}

/** The flags of `self-heal report`. */
interface ReportOptions {
  open?: boolean;
  patch?: boolean;
  json?: boolean;
}

/** Runs `self-heal report`; returns the exit code, or the problem with the run. */
export async function runReport(
  word: string | undefined,
  { open, patch, json }: ReportOptions,
): Promise<number | Problem> {
  const cwd = process.cwd();
  const run = await findRun(cwd, word ?? null);
  if (!run.ok) return run.error;
  const { report, dir } = run.value;
  if (report === null) return createNoEventsProblem(run.value);
  // The run may come from another machine, which did not know this machine's secrets.
  const redactor = await createRedactor({ env: process.env, projectRoot: cwd });
  const maskedReport = redactor.deep(report);
  if (maskedReport.exitCode === null && (await findActivePid(dir)) !== null)
    return createStillRunningProblem(run.value);
  if (patch) return printPatch(run.value, redactor);
  if (json) return print(maskedReport);
  const folder = relativePath(cwd, dir);
  const file = await writePage(maskedReport, { dir, displayDir: folder, redactor });
  if (typeof file !== 'string') return file;
  showSummary(maskedReport, { env: process.env });
  print(file);
  if (open) await openInBrowser(file);
  return exitCodes.green;
}

/** Prints the run's remaining changes, including new and ignored files, which `git diff` does not show. */
async function printPatch({ runId, dir }: StoredRun, redactor: Redactor): Promise<number | Problem> {
  const patch = await readRunPatch(dir);
  if (patch === null)
    return {
      kind: 'run-missing',
      message: `The changes of run ${runId} can no longer be read from .self-heal`,
      remedy: `The patches of its attempts are in .self-heal/runs/${runId}/attempts.`,
    };
  return print(redactor.text(patch.toString('utf8')).trimEnd());
}

async function writePage(report: Report, folder: RunLocation): Promise<string | Problem> {
  // Loaded on demand, because no other command needs this code.
  const { writeHtmlReport } = await import('../outputs/html/page.js');
  try {
    return await writeHtmlReport(report, folder);
  } catch (error) {
    return {
      kind: 'folder-not-writable',
      message: `report.html could not be written into ${folder.dir}`,
      detail: describeError(error),
      remedy: 'Make the folder writable, or free some disk space.',
    };
  }
}

function createNoEventsProblem({ runId }: StoredRun): Problem {
  return {
    kind: 'run-missing',
    message: `run ${runId} has no report, and its events.ndjson has no valid events`,
    remedy: 'Start a new run: self-heal run.',
  };
}

function createStillRunningProblem({ runId }: StoredRun): Problem {
  return {
    kind: 'run-missing',
    message: `run ${runId} is still running and has no report yet`,
    remedy: `self-heal ui follows it, and self-heal inspect ${runId} shows its evidence.`,
  };
}
