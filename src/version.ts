import { readFileSync } from 'node:fs';
import { packageFile } from './own-files.js';

/** Returns the version in self-heal's own package.json. */
export function version(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  const { version: own } = JSON.parse(text) as { version: string };
  return own;
}
