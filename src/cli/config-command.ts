import { Command } from 'commander';
import { endWith } from './end.js';
import { agentsFlag } from './options.js';

const examples = `
Precedence: flag, environment, agents.yaml, default. Every setting with a single
value has a variable: limits.costUsd is SELF_HEAL_LIMITS_COST_USD.`;

/** `self-heal config`: prints the effective settings and the origin of each value (CF-4). */
export function configCommand(): Command {
  return new Command('config')
    .description('print the effective configuration and where each value comes from')
    .option(...agentsFlag)
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples)
    .action(endWith(async () => (await import('./run-config.js')).runConfig));
}
