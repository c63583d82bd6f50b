import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { secretsOfEnvFiles } from '../../../src/secrets/env-files.js';
import { secretsAmong } from '../../../src/secrets/known-values.js';
import { loadDetector, type Redactor, redactorOf } from '../../../src/secrets/redactor.js';
import { fourthPlants } from './fourth-set.js';
import { envFiles, environment, knownPlants } from './known-plants.js';
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

/** Makes redactors of runs in that project that have seen nothing yet, their detectors loaded. */
export async function plantedRedactors(root: string): Promise<() => Promise<Redactor>> {
  await plantIn(root);
  const known = [...secretsAmong(environment), ...(await secretsOfEnvFiles(root))];
  const detector = await loadDetector();
  return async () => {
    const redactor = redactorOf(known, async () => detector);
    await redactor.load();
    return redactor;
  };
}

/** One of them. */
export async function plantedRedactor(root: string): Promise<Redactor> {
  const make = await plantedRedactors(root);
  return make();
}
