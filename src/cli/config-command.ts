import { Command } from 'commander';
import { effectiveSettings } from '../config/effective-settings.js';
import { loadLayers } from '../config/load-settings.js';
import type { Problem } from '../problem.js';
import { configJson, configYaml } from './config-text.js';
import { end } from './end.js';

interface ConfigOptions {
  agents?: string;
  json?: boolean;
}

const examples = `
A flag goes before the environment, that before agents.yaml, and that before the defaults. Every setting that is one value
has a variable: limits.costUsd is SELF_HEAL_LIMITS_COST_USD.`;

/** `self-heal config`: what holds here, and where each value came from (CF-4). */
export function configCommand(): Command {
  return new Command('config')
    .description('print the configuration that holds here, and where each value came from')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples)
    .action(async (options: ConfigOptions) => end(await run(options)));
}

async function run({ agents, json }: ConfigOptions): Promise<number | Problem> {
  const layers = await loadLayers({
    cwd: process.cwd(),
    env: process.env,
    ...(agents ? { file: agents } : {}),
  });
  if (!layers.ok) return layers.error;
  const values = effectiveSettings(layers.value);
  const file = layers.value.source?.path ?? null;
  process.stdout.write(json ? configJson(values, file) : configYaml(values));
  return 0;
}
