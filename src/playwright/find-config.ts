import { statSync } from 'node:fs';
import path from 'node:path';
import type { Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';

/** In the order in which Playwright looks. */
const extensions = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs'];

/**
 * Finds the Playwright config: the file, or the folder that holds it, which `-c` names, else the one in `cwd`. Playwright
 * itself runs without a config too; self-heal asks for one, since a missing one means the wrong folder more often.
 */
export function findPlaywrightConfig(cwd: string, flag?: string): Result<string, Problem> {
  const place = path.resolve(cwd, flag ?? '.');
  if (isFile(place)) return ok(place);
  const found = extensions
    .map((extension) => path.join(place, `playwright.config${extension}`))
    .find((file) => isFile(file));
  if (found) return ok(found);
  return err({
    kind: 'playwright-config-missing',
    message: flag
      ? `there is no Playwright config at ${place}`
      : `there is no playwright.config.ts in ${cwd}`,
    remedy: 'Run `npm init playwright@latest`, or name the config with -c.',
  });
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
