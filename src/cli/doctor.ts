import type { Command } from 'commander';
import type { ChalkInstance } from 'chalk';
import { exitCodes } from '../model/exit-codes.js';
import { createAction, print } from './end-command.js';
import { wrapLines } from '../outputs/truncate.js';
import { agentsFlag, configFlag } from './options.js';
import { type DoctorCheck, examineProject } from '../clients/doctor/examine.js';
import { choosePaletteForStdout } from '../outputs/streams.js';

const explanation = `
Performs the steps that a run takes before its first test. Only a run can show
whether a browser is installed.
Exit codes: ${exitCodes.green} a run can start, ${exitCodes.usage} it cannot`;

/** `self-heal doctor`: checks everything that a run needs before its first test, with a remedy for each failed check (CL-11). */
export function define(command: Command): Command {
  return command
    .option(...agentsFlag)
    .option(...configFlag)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', explanation)
    .action(createAction(runDoctor));
}

async function runDoctor({
  agents,
  config,
  json,
}: {
  agents?: string;
  config?: string;
  json?: boolean;
}): Promise<number> {
  const checks = await examineProject({ cwd: process.cwd(), env: process.env, agents, config });
  const canRun = checks.every(({ state }) => state !== 'failed');
  if (json) print({ schemaVersion: 1, ok: canRun, checks });
  else print(wrapLines(formatChecks(checks, choosePaletteForStdout(process.env)), process.stdout.columns));
  return canRun ? exitCodes.green : exitCodes.usage;
}

/** Renders one line per check, with a remedy below each that did not pass. */
function formatChecks(checks: readonly DoctorCheck[], paint: ChalkInstance): string {
  const marks = { ok: paint.green('✓'), warning: paint.magenta('!'), failed: paint.red('✗') };
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, state, found, remedy }) => [
    `${marks[state]} ${name.padEnd(width)}  ${found.replaceAll('\n', '\n    ')}`,
    ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${remedy}`]),
  ]);
  const failed = checks.filter(({ state }) => state === 'failed').length;
  const failures = failed === 1 ? 'One check failed' : `${failed} checks failed`;
  const allPassed = checks.every(({ state }) => state === 'ok');
  const conclusion =
    failed > 0
      ? `${failures}: a run would not work.`
      : allPassed
        ? 'A run can start.'
        : 'No check failed, but see the warnings.';
  return [...lines, '', conclusion].join('\n');
}
