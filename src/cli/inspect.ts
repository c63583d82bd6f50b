import type { Command } from 'commander';
import { listFailureFiles } from '../clients/inspect/failure-files.js';
import { createAction, print } from './end-command.js';
import { logText } from '../visible-text.js';
import { printText } from './print-text.js';
import { agentsFlag, createWholeNumberParser } from './options.js';
import { exitCodes } from '../model/exit-codes.js';
import { loadSettings } from '../config/load-settings.js';
import {
  listFailures,
  formatFailureName,
  type InspectedFailure,
  requireOneFailure,
} from '../clients/inspect/find-failure.js';
import { findRun, listRunIds, type StoredRun, matchIds } from '../run/find-run.js';
import { readPrompt } from '../clients/inspect/read-prompt.js';
import { describeNoFailures, renderFailure, renderFailures } from '../clients/inspect/render-inspection.js';
import type { Problem } from '../problem.js';
import { createRedactor, type Redactor } from '../secrets/redactor.js';

const examples = `
Name a run by its id, the beginning of its id, or latest (the default). Name a
test by the number of a failure, the id of a cause (c1), file:line, or part of
the title. Without a test, the failures of the run are listed.

  self-heal inspect       the failures of the last run
  self-heal inspect c1    the evidence for the first cause, and its class
  self-heal inspect cart.spec.ts:9 --prompt > prompt.md`;

/** `self-heal inspect`: shows the evidence for a failure of an earlier run, and the prompt (CL-9). */
export function define(command: Command): Command {
  return command
    .argument('[run]', 'the run to inspect (default: latest)')
    .argument('[test]', 'the failure to show (default: list all failures of the run)')
    .option('--prompt', 'print the exact prompt that the agent got or would get')
    .option(
      '--attempt <n>',
      'with --prompt: print the prompt of this attempt (default: the last)',
      createWholeNumberParser(1),
    )
    .option('--json', 'print everything as JSON')
    .option(...agentsFlag)
    .addHelpText('after', examples)
    .action(createAction(runInspect));
}

/** The flags of `self-heal inspect`. */
interface InspectOptions {
  prompt?: boolean;
  attempt?: number;
  json?: boolean;
  agents?: string;
}

/** Runs `self-heal inspect`; returns the exit code, or the problem with the arguments. */
export async function runInspect(
  first: string | undefined,
  second: string | undefined,
  options: InspectOptions,
): Promise<number | Problem> {
  const cwd = process.cwd();
  const { runId, word: testFilter } = await parseArguments(cwd, first, second);
  const run = await findRun(cwd, runId);
  if (!run.ok) return run.error;
  // The run may come from another machine, which did not know this machine's secrets.
  const redactor = await createRedactor({ env: process.env, projectRoot: cwd });
  const failures = redactor.deep(listFailures(run.value));
  if (testFilter === null && !options.prompt) {
    const listing = formatListing(run.value, failures, options);
    return typeof listing === 'string' ? printText(listing) : print(listing);
  }
  if (failures.length === 0) return createNoFailureProblem(run.value);
  const selected = requireOneFailure(testFilter, failures);
  if (!selected.ok) return selected.error;
  const inspected = selected.value;
  if (options.prompt) return showPrompt({ run: run.value, inspected, redactor }, options);
  if (options.json) return print(inspected);
  return print(logText(renderFailure(inspected, await listFailureFiles(run.value, inspected, cwd))));
}

/** Parses the arguments: two are a run and a test, one may be either. */
async function parseArguments(
  cwd: string,
  first: string | undefined,
  second: string | undefined,
): Promise<{ runId: string | null; word: string | null }> {
  if (first === undefined) return { runId: null, word: null };
  if (second !== undefined) return { runId: first, word: second };
  const isRun = first === 'latest' || matchIds(first, await listRunIds(cwd)).length > 0;
  return isRun ? { runId: first, word: null } : { runId: null, word: first };
}

function formatListing(
  run: StoredRun,
  failures: readonly InspectedFailure[],
  { json }: InspectOptions,
): string | object {
  if (json) return { schemaVersion: 1, runId: run.runId, failures };
  const next =
    failures.length > 0
      ? '\n\nself-heal inspect <number> shows one; add --prompt to print the prompt of its agent.'
      : '';
  return `${renderFailures(run, failures)}${next}`;
}

async function showPrompt(
  selection: { readonly run: StoredRun; readonly inspected: InspectedFailure; readonly redactor: Redactor },
  options: InspectOptions,
): Promise<number | Problem> {
  const cwd = process.cwd();
  const settings = await loadSettings({ cwd, env: process.env, file: options.agents });
  if (!settings.ok) return settings.error;
  const attempt = options.attempt ?? null;
  const prompt = await readPrompt({ ...selection, attempt, settings: settings.value, projectRoot: cwd });
  if (!prompt.ok) return prompt.error;
  process.stderr.write(
    `self-heal: #${selection.inspected.failure.n} ${formatFailureName(selection.inspected)}, ${prompt.value.note}\n`,
  );
  process.stdout.write(prompt.value.text);
  return exitCodes.green;
}

function createNoFailureProblem(run: StoredRun): Problem {
  return {
    kind: 'usage',
    message: `${describeNoFailures(run)} in run ${run.runId}`,
    remedy: 'Name an earlier run, then the test: self-heal inspect <run> <test>.',
  };
}
