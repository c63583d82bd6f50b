import { Command, Option } from 'commander';
import { categories } from '../core/diagnosis.js';
import { exitCodes } from '../core/exit-codes.js';
import { endWith } from './end.js';
import { configFlag } from './options.js';

const explanation = `
Compares the working tree, including uncommitted changes, with the base. Prints
one finding per line: file:line, rule, explanation.
Exit codes: ${exitCodes.green} nothing weakens the tests, ${exitCodes.red} something does,
            ${exitCodes.usage} nothing to compare with`;

/** `self-heal guard`: judges the changes in the working tree, whoever made them, without running the suite (HN-3, HN-4). */
export function guardCommand(): Command {
  return new Command('guard')
    .description('check whether the changes since a commit weaken the tests; runs no tests')
    .option('--base <ref>', 'the commit to compare with (default: where the branch left the default branch)')
    .addOption(
      new Option(
        '--category <class>',
        'class of failure the change fixes; only a ui-error may touch the tests',
      )
        .choices(categories)
        .default('ui-error'),
    )
    .option(...configFlag)
    .option('--json', 'print one JSON document')
    .addHelpText('after', explanation)
    .action(endWith(async () => (await import('./run-guard-command.js')).runGuardCommand));
}
