import { existsSync } from 'node:fs';
import path from 'node:path';

/** The CI systems for which `init` can write a workflow. */
export const ciSystems = ['github', 'gitlab'] as const;

export type CiSystem = (typeof ciSystems)[number];

/** Returns the CI system configured in the root of the repository; null if there is none. */
export function ciSystemOf(root: string): CiSystem | null {
  if (existsSync(path.join(root, '.gitlab-ci.yml'))) return 'gitlab';
  return existsSync(path.join(root, '.github')) ? 'github' : null;
}
