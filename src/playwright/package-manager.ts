import { existsSync } from 'node:fs';
import path from 'node:path';

/** How a project's package manager installs a development dependency and runs a package's command. */
export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn' | 'bun';
  readonly add: string;
  readonly exec: string;
}

const npm: PackageManager = { name: 'npm', add: 'npm install --save-dev', exec: 'npx' };

const byLockFile: readonly (readonly [lockFile: string, manager: PackageManager])[] = [
  ['pnpm-lock.yaml', { name: 'pnpm', add: 'pnpm add --save-dev', exec: 'pnpm exec' }],
  ['yarn.lock', { name: 'yarn', add: 'yarn add --dev', exec: 'yarn' }],
  ['bun.lock', { name: 'bun', add: 'bun add --dev', exec: 'bunx' }],
  ['bun.lockb', { name: 'bun', add: 'bun add --dev', exec: 'bunx' }],
  ['package-lock.json', npm],
];

/** The package manager whose lock file lies in the folder or, as in a monorepo, above it; npm where none does. */
export function packageManagerOf(folder: string): PackageManager {
  const found = byLockFile.find(([lockFile]) => existsSync(path.join(folder, lockFile)));
  if (found) return found[1];
  const parent = path.dirname(folder);
  return parent === folder ? npm : packageManagerOf(parent);
}

/** The folder whose lock file decides: in a monorepo one above the package; null where there is none. */
export function lockFolderOf(folder: string): string | null {
  if (byLockFile.some(([lockFile]) => existsSync(path.join(folder, lockFile)))) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? null : lockFolderOf(parent);
}
