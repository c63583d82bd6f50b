import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// This module is directly in `src`, and the build puts every chunk directly into `dist`, so the package's root is always one level up.

/** Returns the path of a file in self-heal's own package, such as `agents.yaml`. */
export function packageFile(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}

/** Returns the path of a file or folder that has the same place in `src` and in `dist`, such as `clients/ui/page/`. */
export function ownFile(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Returns the version in self-heal's own package.json. */
export function readOwnVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string };
  return version;
}
