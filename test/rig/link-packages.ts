import { mkdir, readdir, symlink } from 'node:fs/promises';
import path from 'node:path';

const packages = path.resolve(import.meta.dirname, '../../node_modules');

/**
 * Gives a project the packages of this repository, each as a link, as package managers with a store do: a link of the whole
 * folder would have its packages copied for every agent.
 */
export async function linkPackages(project: string): Promise<void> {
  const folder = path.join(project, 'node_modules');
  await mkdir(folder, { recursive: true });
  const names = (await readdir(packages)).filter((name) => !name.startsWith('.') || name === '.bin');
  await Promise.all(
    names.map((name) => symlink(path.join(packages, name), path.join(folder, name), 'junction')),
  );
}
