import { Command } from 'commander';
import { endWith } from './end.js';
import { agentsFlag, storeFlag } from './options.js';

const examples = `
Name a run by its id, the beginning of its id, or latest (the default). The path
of the page goes to standard output, the summary to standard error, and below it
how often the failures of all stored runs were healed (stats in the JSON).

  self-heal report --open               open the last run in a browser
  self-heal report 20261121-0715 --json print its report.json`;

/** `self-heal report`: writes an earlier run as one HTML file, and prints its summary and the heal rates so far (RP-4). */
export function reportCommand(): Command {
  return new Command('report')
    .description('write an earlier run as a single HTML file')
    .argument('[run]', 'a run (default: latest)')
    .option('--open', 'open it in the browser')
    .option('--json', 'print report.json instead')
    .option(...agentsFlag)
    .option(...storeFlag)
    .addHelpText('after', examples)
    .action(endWith(async () => (await import('./run-report.js')).runReport));
}
