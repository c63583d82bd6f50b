import { Command } from 'commander';
import { endWith } from './end.js';
import { agentsFlag, wholeNumber } from './options.js';

const examples = `
Name a run by its id, the beginning of its id, or latest (the default). Name a
test by the number of a failure, the id of a cause (c1), file:line, or part of
the title. Without a test, the failures of the run are listed.

  self-heal inspect       the failures of the last run
  self-heal inspect c1    the evidence for the first cause, and its class
  self-heal inspect cart.spec.ts:9 --prompt > prompt.md`;

/** `self-heal inspect`: shows the evidence for a failure of an earlier run, and the prompt (CL-9). */
export function inspectCommand(): Command {
  return new Command('inspect')
    .description('show the evidence for a failure of an earlier run, and why it got its class')
    .argument('[run]', 'a run (default: latest)')
    .argument('[test]', 'which failure')
    .option('--prompt', 'print the exact prompt that the agent got or would get')
    .option('--attempt <n>', 'with --prompt: which attempt (default: the last)', wholeNumber(1))
    .option('--json', 'print everything as JSON')
    .option(...agentsFlag)
    .addHelpText('after', examples)
    .action(endWith(async () => (await import('./run-inspect.js')).runInspect));
}
