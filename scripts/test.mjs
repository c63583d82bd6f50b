// All tests on a machine that may have nothing yet: sets up, runs vitest, and closes with `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { root, setUp } from './setup.mjs';

const env = await setUp();
const folder = mkdtempSync(path.join(tmpdir(), 'self-heal-tests-'));
const results = path.join(folder, 'results.json');
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
const { status } = spawnSync(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env,
});
const { numPassedTests = 0, numFailedTests = 0, numFailedTestSuites = 0 } = read(results);
rmSync(folder, { recursive: true, force: true });
const failed = numFailedTests === 0 && status !== 0 ? Math.max(1, numFailedTestSuites) : numFailedTests;
process.stdout.write(`${numPassedTests} passed, ${failed} failed\n`);
process.exitCode = status ?? 1;

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}
