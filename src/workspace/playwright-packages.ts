import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';

const packages = ['@playwright/test', 'playwright', 'playwright-core'];

/**
 * The packages of Playwright itself, which judges the tests: recorded although git ignores them, so that the guard sees an edit in them
 * and it is taken back; also those in `nested` folders of packages (relative to `root`), where a new one would come first. Links (pnpm's) and where they lead; what is outside of the recorded folder cannot be recorded.
 */
export function playwrightPackages(
  root: string,
  projectRoot: string,
  nested: readonly string[] = [],
): string[] {
  const found = new Set<string>();
  for (let folder = projectRoot; ; folder = path.dirname(folder)) {
    for (const name of packages) addPackage(found, path.join(folder, 'node_modules', name));
    if (folder === root || folder === path.dirname(folder)) break;
  }
  for (const modules of nested)
    for (const name of packages) addPackage(found, path.join(root, modules, name));
  const top = real(root);
  return [...found].filter((place) => {
    const parent = real(path.dirname(place));
    // What lies behind a link is found at its own place.
    return parent === path.dirname(place).replace(root, top) && isInside(top, parent);
  });
}

function addPackage(found: Set<string>, place: string): void {
  const info = lstatSync(place, { throwIfNoEntry: false });
  if (!info) return;
  found.add(place);
  if (!info.isSymbolicLink()) return;
  const target = real(place);
  found.add(target);
  // Beside it, pnpm puts what it needs: playwright, playwright-core.
  const modules = target.slice(0, target.lastIndexOf(`${path.sep}node_modules${path.sep}`));
  if (modules.length === target.length) return;
  for (const name of packages) {
    const beside = path.join(modules, 'node_modules', name);
    if (!found.has(beside)) addPackage(found, beside);
  }
}

function real(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    return place;
  }
}

function isInside(top: string, place: string): boolean {
  const way = path.relative(top, place);
  return way === '' || (!way.startsWith('..') && !path.isAbsolute(way));
}
