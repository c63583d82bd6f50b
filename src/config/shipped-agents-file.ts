import { readFileSync } from 'node:fs';
import { packageFile } from '../own-files.js';

/** Returns the text of the agents.yaml in self-heal's package: every default, as a person would write it. */
export function shippedAgentsFile(): string {
  return readFileSync(packageFile('agents.yaml'), 'utf8');
}
