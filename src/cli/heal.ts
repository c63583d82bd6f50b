import type { Command } from 'commander';
import {
  addHealingFlags,
  addStoreFlag,
  addVerifyFlag,
  addWaitFlag,
  addWholeSelectionFlags,
} from './options.js';
import { runAsTyped } from './run.js';
import type { RunOptions } from '../command/run-request.js';

const examples = `
  playwright test --shard=2/20 --reporter=blob    on each CI machine
  self-heal heal --from blob-report               then here, with the reports of
                                                  all shards in one folder
What failed there runs again here, and this run makes the evidence. Select
tests by the same flags and filters as there, except --shard.`;

/** `self-heal heal`: heals what Playwright's reports of other runs name as red (SC-1). */
export function define(command: Command): Command {
  command
    .argument('[filter...]', 'the test filters of the other runs, if they had any')
    .requiredOption(
      '--from <dir...>',
      'reports of Playwright (blob or JSON), or folders that contain any number of these',
    )
    .option('--allow-missing-shards', 'heal even if some shards left no report')
    .option('--list', 'print the causes for a matrix of CI jobs; heal nothing')
    .option('--cause <id...>', 'heal only these causes, as --list names them')
    .option(
      '--patches <dir...>',
      'start no agent: take the fixes in the artifacts of the jobs that healed a cause each',
    );
  return addStoreFlag(addHealingFlags(addWaitFlag(addVerifyFlag(addWholeSelectionFlags(command)))))
    .addHelpText('after', examples)
    .action((words: string[], options: RunOptions) =>
      runAsTyped(words, options.list ? { ...options, dryRun: true, json: true } : options),
    );
}
