import { exitCodes } from '../core/exit-codes.js';
import { effectiveSettings } from '../config/effective-settings.js';
import { loadLayers } from '../config/load-settings.js';
import type { Problem } from '../problem.js';
import { configJson, configYaml } from '../config/config-text.js';

/** The flags of `self-heal config`. */
export interface ConfigOptions {
  agents?: string;
  json?: boolean;
}

/** Runs `self-heal config`; returns the exit code, or the problem with the configuration. */
export async function runConfig({ agents, json }: ConfigOptions): Promise<number | Problem> {
  const layers = await loadLayers({ cwd: process.cwd(), env: process.env, file: agents });
  if (!layers.ok) return layers.error;
  const values = effectiveSettings(layers.value);
  const file = layers.value.source?.path ?? null;
  process.stdout.write(json ? configJson(values, file) : configYaml(values));
  return exitCodes.green;
}
