import { Command, InvalidArgumentError } from 'commander';
import { end } from './end.js';
import type { InspectOptions } from './run-inspect.js';

const examples = `
A run is its id, the beginning of one, or latest (the default). A test is the number of a failure, the id of a cause (c1), a
file with a line, or a part of the title. Without one, the failures of the run are listed.

  self-heal inspect                     the failures of the last run
  self-heal inspect c1                  what was seen of the first cause, and what decided
  self-heal inspect cart.spec.ts:9 --prompt > prompt.md`;

/** `self-heal inspect`: the evidence of a failure of an earlier run, and the prompt (CL-9). */
export function inspectCommand(): Command {
  return new Command('inspect')
    .description('show what was gathered of a failure of an earlier run, and what decided')
    .argument('[run]', 'a run; latest by default')
    .argument('[test]', 'which failure')
    .option('--prompt', 'print exactly what the agent was sent, or would be sent')
    .option('--attempt <n>', 'with --prompt: which attempt; the last by default', wholeNumber)
    .option('--json', 'print all of it as JSON')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .addHelpText('after', examples)
    .action(async (first: string | undefined, second: string | undefined, options: InspectOptions) => {
      const { runInspect } = await import('./run-inspect.js');
      end(await runInspect([first, second], options));
    });
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}
