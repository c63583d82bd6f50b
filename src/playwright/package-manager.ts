import { existsSync } from 'node:fs';
import path from 'node:path';
import { LOCKS } from 'package-manager-detector/constants';

/** The commands with which a package manager installs a development dependency and runs a package's binary. */
export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn' | 'bun';
  readonly add: string;
  readonly exec: string;
}

const managers: Readonly<Record<PackageManager['name'], PackageManager>> = {
  npm: { name: 'npm', add: 'npm install --save-dev', exec: 'npx' },
  pnpm: { name: 'pnpm', add: 'pnpm add --save-dev', exec: 'pnpm exec' },
  yarn: { name: 'yarn', add: 'yarn add --dev', exec: 'yarn' },
  bun: { name: 'bun', add: 'bun add --dev', exec: 'bunx' },
};

const findManager = (name: string | undefined) =>
  Object.values(managers).find((manager) => manager.name === name);
const lockFiles = Object.entries(LOCKS).filter(([, name]) => findManager(name));

/** Returns the package manager of the nearest lock file, in the folder or, as in a monorepo, above it; npm if there is none. */
export function findPackageManager(folder: string): PackageManager {
  return findManager(findLock(folder)?.name) ?? managers.npm;
}

/** Returns the folder of the nearest lock file; null if there is none. */
export function findLockFolder(folder: string): string | null {
  return findLock(folder)?.folder ?? null;
}

function findLock(folder: string): { readonly folder: string; readonly name: string } | null {
  const [, name] = lockFiles.find(([file]) => existsSync(path.join(folder, file))) ?? [];
  if (name !== undefined) return { folder, name };
  const parent = path.dirname(folder);
  return parent === folder ? null : findLock(parent);
}
