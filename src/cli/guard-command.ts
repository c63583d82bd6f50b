import { Command, Option } from 'commander';
import type { Category } from '../core/diagnosis.js';
import { exitCodes } from '../problem.js';
import { end } from './end.js';
import type { GuardOptions } from './run-guard-command.js';

const categories: readonly Category[] = [
  'build-error',
  'database-error',
  'runtime-error',
  'ui-error',
  'network-error',
  'unknown',
];

const explanation = `
Compares the working tree, with what is not committed, with the base. Prints one finding a line, file:line, rule and what it means.
Exit codes: ${exitCodes.green} nothing weakens the tests, ${exitCodes.red} something does, ${exitCodes.usage} there is nothing to compare`;

/** `self-heal guard`: judges what changed in the working tree, whoever wrote it, without running the suite (HN-3, HN-4). */
export function guardCommand(): Command {
  return new Command('guard')
    .description(
      'judge whether what changed since a commit weakens the tests, whoever wrote it; runs no test',
    )
    .option('--base <ref>', 'the commit to compare with; by default where the branch left the default branch')
    .addOption(
      new Option(
        '--category <class>',
        'the failure that the change is to fix: only a ui-error may touch the tests',
      )
        .choices(categories)
        .default('ui-error'),
    )
    .option('-c, --config <file>', 'the Playwright config')
    .option('--json', 'print one JSON document')
    .addHelpText('after', explanation)
    .action(async (options: GuardOptions) => {
      const { runGuardCommand } = await import('./run-guard-command.js');
      end(await runGuardCommand(options));
    });
}
