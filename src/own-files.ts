import { fileURLToPath } from 'node:url';

// This module lies at the top of `src`, and the build puts every chunk at the top of `dist`; so both are one step below the package.

/** The path of a file of self-heal's own package, such as `agents.yaml`. */
export function packageFile(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}

/** The path of a file or folder that the build leaves where it lies in `src`, such as `ui/page/`. */
export function ownFile(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
