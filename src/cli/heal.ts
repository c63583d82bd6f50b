import type { Command } from 'commander';
import { addHealingFlags, storeFlag, addVerifyFlag, addWaitFlag, addSuiteSelectionFlags } from './options.js';
import { runFromCommandLine } from './run.js';
import type { RunOptions } from '../command/run-request.js';

const examples = `
  playwright test --shard=2/20 --reporter=blob    on each CI machine
  self-heal heal --from blob-report               then here, with the reports of
                                                  all shards in one folder
The tests that failed there run again here, which gathers the evidence. Use the
same flags and filters here, except --shard.`;

/** `self-heal heal`: heals the tests that Playwright's reports of other runs show as red (SC-1). */
export function define(command: Command): Command {
  command
    .argument('[filter...]', 'the same test filters as in the other runs, if they had any')
    .requiredOption('--from <dir...>', 'Playwright reports (blob or JSON), or folders that contain them')
    .option('--allow-missing-shards', 'heal even if some shards left no report')
    .option('--list', 'heal nothing; print the causes as JSON, for a matrix of CI jobs')
    .option('--cause <id...>', 'heal only these causes, as --list names them')
    .option(
      '--patches <dir...>',
      'start no agent: combine and prove the fixes in the artifacts of jobs that each healed a cause',
    );
  return addHealingFlags(addWaitFlag(addVerifyFlag(addSuiteSelectionFlags(command))))
    .option(...storeFlag)
    .addHelpText('after', examples)
    .action((words: string[], options: RunOptions) =>
      runFromCommandLine(words, options.list ? { ...options, dryRun: true, json: true } : options),
    );
}
