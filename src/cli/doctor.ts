import path from 'node:path';
import process from 'node:process';
import type { Command } from 'commander';
import type { ChalkInstance } from 'chalk';
import { exitCodes, exitCodeOfSignal } from '../core/exit-codes.js';
import { endWith, print } from './end.js';
import { tell } from './tell.js';
import { agentsFlag, configFlag } from './options.js';
import { lineSplitter } from '../agents/line-splitter.js';
import type { Check } from '../doctor/check.js';
import { examine } from '../doctor/examine.js';
import { runSelfTest, type SelfTest } from '../doctor/self-test.js';
import type { Problem } from '../problem.js';
import { paletteForData } from '../outputs/streams.js';
import { listenForInterrupts } from '../process/interrupts.js';

const explanation = `
The self-test runs this installation in a temporary folder, with this project's
Playwright and a scripted agent that makes seven bad fixes: all must be caught.
It touches nothing in the project, needs no browser and no account.
Exit codes: ${exitCodes.green} a run can work (all were caught),
            ${exitCodes.usage} it cannot (one was not), ${exitCodes.interrupted}/${exitCodes.terminated} interrupted`;

/** `self-heal doctor`: checks whether a run could work here, and says what to do if not (CL-11). */
export function define(command: Command): Command {
  return command
    .option(...agentsFlag)
    .option(...configFlag)
    .option(
      '--self-test',
      'let a scripted agent make seven bad fixes in a scratch project; all must be caught',
    )
    .option('--json', 'print one JSON document')
    .addHelpText('after', explanation)
    .action(endWith(runDoctor));
}

/** The flags of `self-heal doctor`. */
interface DoctorOptions {
  agents?: string;
  config?: string;
  json?: boolean;
  selfTest?: boolean;
}

/** Runs `self-heal doctor`; returns the exit code, or the problem that prevented the self-test (CL-11). */
async function runDoctor(options: DoctorOptions): Promise<number | Problem> {
  if (options.selfTest) return doctorSelfTest(options);
  const { agents, config, json } = options;
  const checks = await examine({
    cwd: process.cwd(),
    env: process.env,
    nodeVersion: process.versions.node,
    agents,
    config,
  });
  const ok = checks.every(({ state }) => state !== 'failed');
  if (json) print({ schemaVersion: 1, ok, checks });
  else tell(doctorText(checks, paletteForData(process.env)));
  return ok ? exitCodes.green : exitCodes.usage;
}

/** Renders one line per check, and what to do below each that did not pass. */
export function doctorText(checks: readonly Check[], paint: ChalkInstance): string {
  const failed = checks.filter(({ state }) => state === 'failed').length;
  const what = failed === 1 ? 'One check fails' : `${failed} checks fail`;
  const isSure = checks.every(({ state }) => state === 'ok');
  const last =
    failed > 0
      ? `${what}: a run would not work.`
      : isSure
        ? 'A run can work.'
        : 'No check fails, but see the warnings.';
  return [...checkLines(checks, paint), '', last].join('\n');
}

function checkLines(checks: readonly Check[], paint: ChalkInstance): string[] {
  const marks = { ok: paint.green('✓'), warning: paint.magenta('!'), failed: paint.red('✗') };
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.flatMap(({ name, state, found, remedy }) => [
    `${marks[state]} ${name.padEnd(width)}  ${found.replaceAll('\n', '\n    ')}`,
    ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${remedy}`]),
  ]);
}

async function doctorSelfTest({ config, json }: DoctorOptions): Promise<number | Problem> {
  using interrupts = listenForInterrupts((text) => process.stderr.write(`self-heal ${text}\n`));
  const { env, stderr } = process;
  // The config's folder may have a Playwright of its own.
  const folder = config === undefined ? process.cwd() : path.dirname(path.resolve(config));
  const { signal } = interrupts;
  const progress = lineSplitter((line) => line.startsWith('self-heal ') && stderr.write(`${line}\n`));
  const onOutput = (chunk: Buffer, from: string) => from === 'stderr' && progress.write(chunk);
  const tested = await runSelfTest(folder, { env, signal, onOutput });
  if (interrupts.signal.aborted) return exitCodeOfSignal(interrupts.by() ?? 'SIGTERM');
  if (!tested.ok) {
    if (json) print({ schemaVersion: 1, ok: false, problem: tested.error });
    return tested.error;
  }
  const ok = tested.value.results.every(({ held }) => held);
  print(json ? { schemaVersion: 1, ok, ...tested.value } : selfTestText(tested.value, paletteForData(env)));
  return ok ? exitCodes.green : exitCodes.usage;
}

function selfTestText({ results, kept }: SelfTest, paint: ChalkInstance): string {
  const checks = results.map(({ name, planted, did, held }): Check => {
    return { name, state: held ? 'ok' : 'failed', found: `${planted} → ${did}`, remedy: null };
  });
  const missed = results.filter(({ held }) => !held).length;
  const last =
    missed === 0
      ? `All ${results.length} bad fixes were caught; no model was called.`
      : `${missed} of ${results.length} bad fixes were not caught. Everything recorded is in ${kept}`;
  return [...checkLines(checks, paint), '', last].join('\n');
}
