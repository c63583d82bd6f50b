// Bundles modules of src/ for Node. Packages with native parts stay external; all others are bundled.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/**
 * Bundles `input` (an object of names and paths below src/) into the folder `to`, with Rolldown's output options. Dynamic imports get
 * chunks of their own, so that each command loads only what it needs.
 */
export async function bundle({ input, to, plugins = [], ...output }) {
  const isPage = output.format === 'iife';
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, path.join('src', file)])),
    platform: isPage ? 'browser' : 'node',
    // pg tries to load its native variant, which may be missing; Playwright is always the project's own.
    external: [...Object.keys(dependencies), 'pg-native', 'playwright', '@playwright/test'],
    // Only `using` is not supported there, so all other newer syntax stays: rewriting a regular expression of ES2024 as a call of its
    // constructor would compile it when its module is loaded.
    transform: { target: isPage ? 'es2022' : 'node20.19' },
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins,
    logLevel: 'warn',
  });
  try {
    await build.write({ dir: to, ...output });
  } finally {
    await build.close();
  }
}
