import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createRedactor, type Redactor } from '../../../src/secrets/redactor.js';
import { fourthPlants } from './fourth-set.js';
import { environment, envFiles, knownPlants } from './known-plants.js';
import { namedPlants } from './named-plants.js';
import type { Plant } from './plant.js';
import { secondPlants } from './second-set.js';
import { shapedPlants } from './shaped-plants.js';
import { thirdPlants } from './third-set.js';

/** Everything that is planted. */
export const allPlants: readonly Plant[] = [
  ...knownPlants(),
  ...namedPlants(),
  ...shapedPlants(),
  ...secondPlants(),
  ...thirdPlants(),
  ...fourthPlants(),
];

/** Makes the folder a project whose files hold the planted variables. */
export async function plantIn(root: string): Promise<void> {
  for (const [file, content] of Object.entries(envFiles)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), content);
  }
}

/** The redactor of a run in that project, its detector loaded. */
export async function plantedRedactor(root: string): Promise<Redactor> {
  await plantIn(root);
  const redactor = await createRedactor({ env: environment, projectRoot: root });
  await redactor.load();
  return redactor;
}
