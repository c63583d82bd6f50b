import { Command, InvalidArgumentError, Option } from 'commander';
import { durationMistake, parseDuration } from '../config/duration.js';
import type { RunOptions } from '../heal/run-request.js';
import { end } from './end.js';
import { agentsFlag, addStoreFlag, addTerseFlags, addWaitFlag, addWholeSelectionFlags } from './options.js';
import { splitAtDashes } from './run-command.js';

/** The flags of `self-heal worker`. */
type WorkerFlags = RunOptions & { readonly once?: boolean; readonly idleTimeout?: number };

const notes = `
Takes causes of the commit that is checked out here, one at a time, heals and
proves each in this checkout, sends the patch back, and restores the checkout.
Ctrl-C stops the worker, and its current cause goes to another worker. Flags and
filters that select tests must be the same as those of \`self-heal heal\`.`;

/** `self-heal worker`: heals causes that `self-heal heal --queue` sends, on any number of machines (SC-2). */
export function workerCommand(): Command {
  const command = new Command('worker')
    .description('heal causes in this checkout that `heal --queue` sends from another machine')
    .argument('[filter...]', 'the test filters that `heal` was given, if any')
    .option('--once', 'stop after one cause')
    .addOption(
      new Option(
        '--idle-timeout <time>',
        'stop when no heal that could send a cause has run for this long, such as 5m, or when the heal is over',
      ).argParser(duration),
    )
    .option(...agentsFlag);
  return addStoreFlag(addTerseFlags(addWaitFlag(addWholeSelectionFlags(command))))
    .addHelpText('after', notes)
    .action(async (words: string[], { once = false, idleTimeout, ...options }: WorkerFlags) => {
      const { filters, passThrough } = splitAtDashes(words, process.argv);
      const { runWorker } = await import('../heal/workers/work.js');
      const request = { cwd: process.cwd(), env: process.env, filters, passThrough, options };
      end(await runWorker(request, { once, idleTimeoutMs: idleTimeout ?? null }));
    });
}

function duration(value: string): number {
  const ms = parseDuration(value);
  if (ms === null) throw new InvalidArgumentError(`It ${durationMistake(value)}.`);
  return ms;
}
