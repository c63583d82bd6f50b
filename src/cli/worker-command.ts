import { Command, InvalidArgumentError, Option } from 'commander';
import { durationMistake, parseDuration } from '../config/duration.js';
import type { RunOptions } from '../heal/run-request.js';
import { end } from './end.js';
import { addStoreFlag, addTerseFlags, addWaitFlag, addWholeSelectionFlags } from './options.js';
import { splitAtDashes } from './run-command.js';

/** The flags of `self-heal worker`. */
type WorkerFlags = RunOptions & { readonly once?: boolean; readonly idleTimeout?: number };

const notes = `
It takes causes of the commit that is checked out here, one after the other, heals and proves each in this checkout, and sends
the patch back; the checkout is then as it was. Ctrl-C ends it; the cause that it had goes to another worker.
Flags and filters that say which tests are run have to be the same as those of \`self-heal heal\`.`;

/** `self-heal worker`: heals causes that `self-heal heal --queue` sends, on any number of machines (SC-2). */
export function workerCommand(): Command {
  const command = new Command('worker')
    .description('heal causes that `heal --queue` sends from another machine, in this checkout')
    .argument('[filter...]', 'the test files that `heal` was given, if any')
    .option('--once', 'end after one cause')
    .addOption(
      new Option(
        '--idle-timeout <time>',
        'end when nobody was there to send a cause for so long, such as 5m, or when the heal is over',
      ).argParser(duration),
    )
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder');
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
