import { readFileSync } from 'node:fs';

/** The version in self-heal's own package.json. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version: own } = JSON.parse(text) as { version: string };
  return own;
}
