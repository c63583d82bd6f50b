import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';

const packages = path.resolve(import.meta.dirname, '../../node_modules');
const used = ['@playwright', 'playwright', 'playwright-core', 'typescript', '.bin'];

/**
 * Links what projects of tests use of this repository's packages into a project, as package managers with a store do. If the whole folder
 * were a link, its packages would be copied for every agent.
 */
export async function linkPackages(project: string, names: readonly string[] = used): Promise<void> {
  const folder = path.join(project, 'node_modules');
  await mkdir(folder, { recursive: true });
  await Promise.all(
    names.map((name) => symlink(path.join(packages, name), path.join(folder, name), 'junction')),
  );
}
