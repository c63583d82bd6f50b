import type { Command } from 'commander';
import { exitCodes } from '../model/exit-codes.js';
import { endCommandWrapped } from './end-command.js';
import { heal, plan, provePatches } from '../commands.js';
import type { Command as RunCommand } from '../command/run.js';
import { runCommand } from '../command/run-command.js';
import { addHealingFlags, addSelectionFlags, addVerifyFlag, addWaitFlag } from './options.js';
import type { RunOptions } from '../command/run-request.js';
import type { Problem } from '../problem.js';
import { ok, type Result } from '../result.js';

const examples = `
Everything after -- is passed on to Playwright:  self-heal run -- --no-deps
Exit codes: ${exitCodes.green} green (healed and flaky too), ${exitCodes.red} still failing,
            ${exitCodes.usage} usage or configuration, ${exitCodes.personNeeded} needs a person, ${exitCodes.budget} stopped by a limit,
            ${exitCodes.agentUnusable} an agent cannot be used, ${exitCodes.interrupted}/${exitCodes.terminated} interrupted`;

/** `self-heal run`: runs the suite and heals failing tests. */
export function define(command: Command): Command {
  command.argument(
    '[filter...]',
    'test files to run, as in Playwright: regular expressions for their paths, or file:line',
  );
  return addHealingFlags(addWaitFlag(addVerifyFlag(addSelectionFlags(command))))
    .option('--flaky', 'afterwards, also measure, explain and heal flaky tests (see self-heal flaky)')
    .addHelpText('after', examples)
    .action((words: string[], options: RunOptions) => runFromCommandLine(words, options));
}

/** Runs the command and ends the process with its result. Also reports a problem that prevented the run to GitHub Actions. */
export async function runFromCommandLine(words: readonly string[], options: RunOptions): Promise<void> {
  const { filters, passThrough } = splitAtDashes(words, process.argv);
  const { env } = process;
  const name = options.from ? 'heal' : 'run';
  const request = { cwd: process.cwd(), env, name, filters, passThrough, options };
  const command = await loadCommand(options);
  const result = command.ok ? await runCommand(request, command.value) : command.error;
  if (typeof result !== 'number') {
    const { writeProblem } = await import('../outputs/write-reports.js');
    await writeProblem(result, { env });
  }
  if (result !== exitCodes.personNeeded) return endCommandWrapped(result);
  const { askAfterRun } = await import('./resolve-escalation.js');
  return endCommandWrapped(await askAfterRun(result, options));
}

async function loadCommand({ dryRun, patches }: RunOptions): Promise<Result<RunCommand, Problem>> {
  if (!patches) return ok(dryRun ? plan : heal);
  const { readPatches } = await import('../clients/patches.js');
  const patchesResult = await readPatches(patches);
  return patchesResult.ok ? ok(dryRun ? plan : provePatches(patchesResult.value)) : patchesResult;
}

/** Splits the arguments at `--`, which commander removes. */
function splitAtDashes(
  words: readonly string[],
  argv: readonly string[],
): { filters: string[]; passThrough: string[] } {
  const dashes = argv.indexOf('--');
  const end = words.length - (dashes === -1 ? 0 : argv.length - dashes - 1);
  return { filters: words.slice(0, end), passThrough: words.slice(end) };
}
