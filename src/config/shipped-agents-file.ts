import { readFileSync } from 'node:fs';
import { packageFile } from '../own-files.js';

/** The text of the agents.yaml in self-heal's own package: every default, as a person would write it. */
export function shippedAgentsFile(): string {
  return readFileSync(packageFile('agents.yaml'), 'utf8');
}
