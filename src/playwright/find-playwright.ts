import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { findPackageManager } from './package-manager.js';

/** The user's own installation of Playwright. */
export interface Playwright {
  readonly version: string;
  /** Absolute path of its command-line script, for `node cli.js test`. */
  readonly cli: string;
  readonly packageDir: string;
}

const oldestVersion = [1, 50] as const;

/**
 * Finds the project's own Playwright (CL-2), from the config file or else from `cwd`. Under Yarn Plug'n'Play, it finds one only if self-heal itself was
 * started through Yarn. Playwright is an optional peer of self-heal, because npm would install a required one into the cache of `npx`.
 */
export function findPlaywright(cwd: string, configFile?: string): Result<Playwright, Problem> {
  const folders = [...(configFile ? [path.dirname(configFile)] : []), cwd];
  // A project that imports from `playwright/test` does not need `@playwright/test`.
  const packages = ['@playwright/test', 'playwright'];
  const results = packages.flatMap((name) => folders.map((folder) => resolveManifest(name, folder)));
  const manifest = results.find((result) => typeof result === 'string');
  if (manifest !== undefined) return requireSupported(readPlaywright(manifest), cwd);
  const error = results.find((result) => result instanceof Error);
  if (error)
    return err({
      kind: 'playwright-missing',
      message: `Node cannot resolve @playwright/test in ${cwd}`,
      detail: error.message,
      remedy: 'Correct the file that Node names below.',
    });
  return err({
    kind: 'playwright-missing',
    message: `@playwright/test is not installed in ${cwd}`,
    remedy: `Run \`${findPackageManager(cwd).add} @playwright/test\`, or start self-heal in the folder of your Playwright project.`,
  });
}

/**
 * Returns the path of a package's manifest; null if the package is not installed, or Node's error if resolving fails, such as for a `package.json`
 * that is not JSON.
 */
function resolveManifest(name: string, from: string): string | Error | null {
  try {
    return createRequire(path.join(from, 'from-here.js')).resolve(`${name}/package.json`);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND';
    return isMissing || !(error instanceof Error) ? null : error;
  }
}

function readPlaywright(manifest: string): Playwright {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const packageDir = path.dirname(manifest);
  return { version, cli: path.join(packageDir, 'cli.js'), packageDir };
}

function requireSupported(playwright: Playwright, cwd: string): Result<Playwright, Problem> {
  if (isAtLeast(playwright.version, oldestVersion)) return ok(playwright);
  return err({
    kind: 'playwright-unsupported',
    message: `Playwright ${playwright.version} is not supported; the oldest supported version is ${oldestVersion.join('.')}`,
    remedy: `Run \`${findPackageManager(cwd).add} @playwright/test@latest\`.`,
  });
}

/** True if a version is at least `major.minor`, ignoring the rest of the version. */
export function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
