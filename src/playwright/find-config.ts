import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { findAncestor } from '../workspace/git.js';
import type { Problem } from '../problem.js';
import { err, ok, type Result, tryOr } from '../result.js';

/** In the order in which Playwright tries them. */
const extensions = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs'];

/**
 * Finds the Playwright config: the file or folder that `-c` names, otherwise the config in `cwd`. Playwright also runs
 * without a config; self-heal requires one, since a missing config usually means the wrong folder.
 */
export function findPlaywrightConfig(cwd: string, flag?: string): Result<string, Problem> {
  const target = path.resolve(cwd, flag ?? '.');
  if (isFile(target)) return ok(target);
  const config = findConfigIn(target);
  if (config) return ok(config);
  const above = flag === undefined ? findAncestor(cwd, (folder) => findConfigIn(folder) !== undefined) : null;
  return err({
    kind: 'playwright-config-missing',
    message: flag
      ? `there is no Playwright config at ${target}`
      : `there is no playwright.config.ts in ${cwd}`,
    remedy:
      above === null
        ? suggestRemedy(cwd, flag === undefined ? findConfigsBelow(cwd) : [])
        : `There is a ${path.basename(findConfigIn(above) ?? '')} in ${above}: change to that folder first.`,
  });
}

function suggestRemedy(cwd: string, [first, ...others]: readonly string[]): string {
  if (first === undefined) return 'Run `npm init playwright@latest`, or pass the config with -c.';
  const also = others.length > 0 ? ` There are also ${others.slice(0, 4).join(', ')}.` : '';
  const folder = path.posix.dirname(first);
  const isPackage = isFile(path.join(cwd, folder, 'package.json'));
  return `Found ${first}: ${isPackage ? `cd ${folder}, and start self-heal there` : `pass \`-c ${first}\``}.${also}`;
}

/** True if a Playwright config is in a folder above or below, so the project is probably there. */
export function hasConfigElsewhere(cwd: string): boolean {
  const hasConfig = (folder: string) => findConfigIn(folder) !== undefined;
  return !hasConfig(cwd) && (findAncestor(cwd, hasConfig) !== null || findConfigsBelow(cwd).length > 0);
}

/** Finds Playwright configs up to three levels below, as in monorepos; relative, with forward slashes. Only used in a remedy. */
function findConfigsBelow(cwd: string, depth = 3): string[] {
  const folders = tryOr([], () => readdirSync(cwd, { withFileTypes: true })).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules',
  );
  return folders.flatMap(({ name }) => {
    const folder = path.join(cwd, name);
    const config = findConfigIn(folder);
    const below = depth > 1 ? findConfigsBelow(folder, depth - 1) : [];
    return [...(config ? [path.basename(config)] : []), ...below].map((file) => `${name}/${file}`);
  });
}

function findConfigIn(folder: string): string | undefined {
  return extensions
    .map((extension) => path.join(folder, `playwright.config${extension}`))
    .find((file) => isFile(file));
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
