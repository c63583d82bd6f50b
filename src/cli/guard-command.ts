import { Command } from 'commander';
import { exitCodes } from '../core/exit-codes.js';
import { endWith } from './end.js';
import { configFlag } from './options.js';

const explanation = `
Compares what each test does in the working tree, including uncommitted changes,
with what it did at the base, and prints by test what is weaker, different,
stronger and new: the steps before (-) and after (+).
Exit codes: ${exitCodes.green} no test is weaker, ${exitCodes.red} one is (with --strict: or different),
            ${exitCodes.usage} nothing to compare with`;

/** `self-heal guard`: judges the changes in the working tree, whoever made them, without running the suite (HN-3, HN-4). */
export function guardCommand(): Command {
  return new Command('guard')
    .description('show what the changes since a commit do to the tests; runs no tests')
    .option('--base <ref>', 'the commit to compare with (default: where the branch left the default branch)')
    .option('--strict', 'also exit with 1 for a test that does something different, or a protected file')
    .option(...configFlag)
    .option('--json', 'print one JSON document')
    .addHelpText('after', explanation)
    .action(endWith(async () => (await import('./run-guard-command.js')).runGuardCommand));
}
