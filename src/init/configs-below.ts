import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const configNames = ['ts', 'js', 'mts', 'mjs', 'cts', 'cjs'].map((ending) => `playwright.config.${ending}`);

/** Playwright configs in the folders below, two levels deep, as in monorepos; relative, with `/`. For a remedy, no more. */
export function configsBelow(cwd: string, depth = 2): string[] {
  return foldersIn(cwd).flatMap((folder) => {
    const own = configNames.find((name) => existsSync(path.join(cwd, folder, name)));
    const below = depth > 1 ? configsBelow(path.join(cwd, folder), depth - 1) : [];
    return [...(own ? [own] : []), ...below].map((file) => `${folder}/${file}`);
  });
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((one) => one.isDirectory() && !one.name.startsWith('.') && one.name !== 'node_modules')
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
