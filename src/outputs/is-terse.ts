import { drivingAgent } from './driving-agent.js';

/** Few words and no colour, where an agent reads. */
export function isTerse(env: NodeJS.ProcessEnv, { terse }: { readonly terse?: boolean }): boolean {
  return terse ?? drivingAgent(env) !== null;
}
