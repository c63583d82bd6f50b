import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import prettyBytes from 'pretty-bytes';
import { loadSettings } from '../config/load-settings.js';
import { failuresMeant, failuresOf, isLead, nameOf, type Inspected } from '../inspect/find-failure.js';
import { findRun, runIdsIn, type StoredRun } from '../inspect/find-run.js';
import { idsMeant } from '../inspect/ids-meant.js';
import { promptOf } from '../inspect/prompt-of.js';
import { renderFailure, renderList } from '../inspect/render-inspection.js';
import type { Problem } from '../problem.js';
import { end } from './end.js';

interface InspectOptions {
  prompt?: boolean;
  attempt?: number;
  json?: boolean;
  agents?: string;
}

const examples = `
A run is its id, the beginning of one, or latest (the default). A test is the number of a failure, the id of a cause (c1), a
file with a line, or a part of the title. Without one, the failures of the run are listed.

  self-heal inspect                     the failures of the last run
  self-heal inspect c1                  what was seen of the first cause, and what decided
  self-heal inspect cart.spec.ts:9 --prompt > prompt.md`;

/** `self-heal inspect`: the evidence of a failure of an earlier run, and the prompt (CL-9). */
export function inspectCommand(): Command {
  return new Command('inspect')
    .description('show what was gathered of a failure of an earlier run, and what decided')
    .argument('[run]', 'a run; latest by default')
    .argument('[test]', 'which failure')
    .option('--prompt', 'print exactly what the agent was sent, or would be sent')
    .option('--attempt <n>', 'with --prompt: which attempt; the last by default', wholeNumber)
    .option('--json', 'print all of it as JSON')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .addHelpText('after', examples)
    .action(async (first: string | undefined, second: string | undefined, options: InspectOptions) =>
      end(await inspect([first, second], options)),
    );
}

async function inspect(
  words: readonly (string | undefined)[],
  options: InspectOptions,
): Promise<number | Problem> {
  const cwd = process.cwd();
  const { runId, word } = await readWords(cwd, words);
  const run = await findRun(cwd, runId);
  if (!run.ok) return run.error;
  const all = failuresOf(run.value);
  if (word === null && !options.prompt) return show(listing(run.value, all, options));
  const meant = word === null ? all.filter(isLead) : failuresMeant(word, all);
  const [one] = meant;
  if (all.length === 0) return nothingFailed(run.value);
  if (!one || meant.length > 1) return unclear(word, meant.length > 1 ? meant : all);
  if (options.prompt) return showPrompt(run.value, one, options);
  if (options.json) return show(JSON.stringify(one, null, 2));
  return show(renderFailure(one, await filesOf(run.value, one, cwd)));
}

/** One word alone may be a run or a test; two are a run and a test. */
async function readWords(
  cwd: string,
  [first, second]: readonly (string | undefined)[],
): Promise<{ runId: string | null; word: string | null }> {
  if (first === undefined) return { runId: null, word: null };
  if (second !== undefined) return { runId: first, word: second };
  const isRun = first === 'latest' || idsMeant(first, await runIdsIn(cwd)).length > 0;
  return isRun ? { runId: first, word: null } : { runId: null, word: first };
}

function listing(run: StoredRun, all: readonly Inspected[], { json }: InspectOptions): string {
  if (json) return JSON.stringify({ schemaVersion: 1, runId: run.runId, failures: all }, null, 2);
  const next =
    all.length > 0 ? '\n\nself-heal inspect <number> shows one; --prompt what the agent was sent.' : '';
  return `${renderList(run, all)}${next}`;
}

async function showPrompt(
  run: StoredRun,
  one: Inspected,
  options: InspectOptions,
): Promise<number | Problem> {
  const cwd = process.cwd();
  const settings = await loadSettings({
    cwd,
    env: process.env,
    ...(options.agents ? { file: options.agents } : {}),
  });
  if (!settings.ok) return settings.error;
  const attempt = options.attempt ?? null;
  const found = await promptOf({ run, one, attempt, settings: settings.value, projectRoot: cwd });
  if (!found.ok) return found.error;
  process.stderr.write(`self-heal: #${one.failure.n} ${nameOf(one)}, ${found.value.note}\n`);
  process.stdout.write(found.value.text);
  return 0;
}

async function filesOf(run: StoredRun, { failure }: Inspected, cwd: string): Promise<string[]> {
  const folder = path.join(run.dir, 'failures', String(failure.n));
  const names = await readdir(folder).catch(() => []);
  const sorted = names.toSorted((a, b) => a.localeCompare(b));
  return Promise.all(
    sorted.map(async (name) => {
      const file = path.join(folder, name);
      return `${path.relative(cwd, file)}  ${prettyBytes((await stat(file)).size)}`;
    }),
  );
}

function nothingFailed({ runId }: StoredRun): Problem {
  return {
    kind: 'usage',
    message: `nothing failed in run ${runId}, so there is no failure to inspect`,
    remedy: 'Name an earlier run before the failure: self-heal inspect <run> <test>.',
  };
}

function unclear(word: string | null, choices: readonly Inspected[]): Problem {
  return {
    kind: 'usage',
    message:
      word === null ? 'several failures could be meant' : `${JSON.stringify(word)} does not name one failure`,
    detail: choices.map((one) => `  ${one.failure.n}  ${nameOf(one)}`).join('\n'),
    remedy: 'Name one by its number: self-heal inspect <number>.',
  };
}

function show(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
