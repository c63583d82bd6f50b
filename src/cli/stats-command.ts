import { Command } from 'commander';
import { end } from './end.js';
import { agentsFlag } from './options.js';
import type { StatsOptions } from './run-stats.js';

/** `self-heal stats`: prints statistics over the project's stored runs, and whether heals held. */
export function statsCommand(): Command {
  return new Command('stats')
    .description('statistics over stored runs: heal rate by class and agent, what held, cost')
    .option(...agentsFlag)
    .option('--json', 'print them as JSON')
    .action(async (options: StatsOptions) => {
      const { runStats } = await import('./run-stats.js');
      end(await runStats(options));
    });
}
