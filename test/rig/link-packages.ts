import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';

const packages = path.resolve(import.meta.dirname, '../../node_modules');
const usedPackages = ['@playwright', 'playwright', 'playwright-core', 'typescript', '.bin'];

/**
 * Links the packages that test projects use from this repository into a project, as package managers with a store do. A link to the whole
 * folder would make every agent's copy contain all packages.
 */
export async function linkPackages(project: string, names: readonly string[] = usedPackages): Promise<void> {
  const folder = path.join(project, 'node_modules');
  await mkdir(folder, { recursive: true });
  await Promise.all(
    names.map((name) => symlink(path.join(packages, name), path.join(folder, name), 'junction')),
  );
}
