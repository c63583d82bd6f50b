import { Command } from 'commander';
import { endWith } from './end.js';
import { agentsFlag } from './options.js';

/** `self-heal stats`: prints statistics over the project's stored runs, and whether heals held. */
export function statsCommand(): Command {
  return new Command('stats')
    .description('statistics over stored runs: heal rate by class and agent, what held, cost')
    .option(...agentsFlag)
    .option('--json', 'print them as JSON')
    .action(endWith(async () => (await import('./run-stats.js')).runStats));
}
