import { Command } from 'commander';
import {
  addHealingFlags,
  addStoreFlag,
  addVerifyFlag,
  addWaitFlag,
  addWholeSelectionFlags,
} from './options.js';
import { runAsTyped } from './run-command.js';
import type { RunOptions } from '../heal/run-request.js';

const examples = `
  self-heal run --shard 2/20 --collect    on each CI machine
  self-heal heal --from shards            then here, with the artifacts of all
                                          shards downloaded into shards/
Select tests by the same flags and filters as on the shards, except --shard.`;

/** `self-heal heal`: heals what the shards of a suite collected on other machines (SC-1). */
export function healCommand(): Command {
  const command = new Command('heal')
    .description('heal what the shards of a suite collected on other machines')
    .argument('[filter...]', 'the test filters that the shards were given, if any')
    .requiredOption(
      '--from <dir...>',
      'folders written by `run --collect`, Playwright blob reports, or folders that contain any number of these',
    )
    .option('--allow-missing-shards', 'heal what was collected even if some shards are missing');
  return addStoreFlag(addHealingFlags(addWaitFlag(addVerifyFlag(addWholeSelectionFlags(command)))))
    .addHelpText('after', examples)
    .action((words: string[], options: RunOptions) => runAsTyped(words, options));
}
