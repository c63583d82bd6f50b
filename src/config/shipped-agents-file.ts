import { readFileSync } from 'node:fs';

/** The text of the agents.yaml in self-heal's own package: every default, as a person would write it. */
export function shippedAgentsFile(): string {
  return readFileSync(new URL('../../agents.yaml', import.meta.url), 'utf8');
}
