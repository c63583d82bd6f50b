// Tests self-heal with every minor version of Playwright that it supports: `npm run test:playwrights [1.50 … file …]`. Each version is installed
// outside the package's own dependencies; files are tests that use `test/rig/inline-suite.ts`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { root, setUp, shown } from './setup.mjs';

const oldestMinor = 50;
const newest = spawnSync('npm', ['view', '@playwright/test', 'version'], { encoding: 'utf8' }).stdout.trim();
const cache =
  process.env.SELF_HEAL_PLAYWRIGHTS_CACHE ?? path.join(homedir(), '.cache', 'self-heal-playwrights');

const words = process.argv.slice(2);
const named = words.filter((word) => /^1\.\d+$/.test(word));
const files = words.filter((word) => !named.includes(word));
const versions = named.length > 0 ? named : upTo(newest);
const always = ['test/integration/playwright-waits.test.ts', 'test/integration/playwright-trace.test.ts'];
const tests = files.length > 0 ? files : always;
const env = await setUp();
const failed = versions.filter((version) => !passes(version));
process.stdout.write(
  `Playwright ${versions.join(', ')}: ${failed.length > 0 ? `failed with ${failed.join(', ')}` : 'passed'}\n`,
);
process.exitCode = failed.length > 0 ? 1 : 0;

function upTo(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major !== 1)
    throw new Error(`Playwright ${version} has a major version that this script does not know`);
  return Array.from({ length: minor - oldestMinor + 1 }, (_, at) => `1.${oldestMinor + at}`);
}

function passes(version) {
  process.stdout.write(`\nPlaywright ${version}\n`);
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'integration', ...tests], {
    cwd: root,
    stdio: 'inherit',
    env: { ...env, SELF_HEAL_TEST_NODE_MODULES: installed(version) },
  });
  return status === 0;
}

/** Installs a version unless it is installed; returns its `node_modules`. */
function installed(version) {
  const folder = path.join(cache, version);
  const packages = path.join(folder, 'node_modules');
  if (!existsSync(path.join(packages, '@playwright', 'test', 'cli.js'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
    const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
    shown('npm', ['install', ...quietly, `@playwright/test@${version}`], {
      cwd: folder,
      stdio: ['ignore', 2, 2],
    });
  }
  return packages;
}
