import { existsSync } from 'node:fs';
import path from 'node:path';

/** The CI systems for which a workflow is written. */
export const ciSystems = ['github', 'gitlab'] as const;

export type CiSystem = (typeof ciSystems)[number];

/** The CI system whose configuration lies in the root of the repository; null where there is neither. */
export function ciSystemOf(root: string): CiSystem | null {
  if (existsSync(path.join(root, '.gitlab-ci.yml'))) return 'gitlab';
  return existsSync(path.join(root, '.github')) ? 'github' : null;
}
