import { mkdir, readdir, symlink } from 'node:fs/promises';
import path from 'node:path';

const packages = path.resolve(import.meta.dirname, '../../node_modules');

/**
 * Links each package of this repository into a project, as package managers with a store do. If the whole folder were a link, its packages
 * would be copied for every agent.
 */
export async function linkPackages(project: string): Promise<void> {
  const folder = path.join(project, 'node_modules');
  await mkdir(folder, { recursive: true });
  const names = (await readdir(packages)).filter((name) => !name.startsWith('.') || name === '.bin');
  await Promise.all(
    names.map((name) => symlink(path.join(packages, name), path.join(folder, name), 'junction')),
  );
}
