import { drivingAgent } from './driving-agent.js';
import type { RunOptions } from './options.js';

/** Few words and no colour, where an agent reads. */
export function isTerse(env: NodeJS.ProcessEnv, options: Pick<RunOptions, 'terse'>): boolean {
  return options.terse ?? drivingAgent(env) !== null;
}
