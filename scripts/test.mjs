// All tests on a machine that may have nothing yet: sets up, runs vitest and then the pages in a browser, and closes with
// `N passed, N failed`. Arguments go to vitest, and then it runs alone.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { root, setUp } from './setup.mjs';

const env = await setUp();
const folder = mkdtempSync(path.join(tmpdir(), 'self-heal-tests-'));
const args = process.argv.slice(2);
const results = [runVitest(), ...(args.length === 0 ? [runPages()] : [])];
rmSync(folder, { recursive: true, force: true });
const total = (name) => results.reduce((sum, one) => sum + one[name], 0);
process.stdout.write(`${total('passed')} passed, ${total('failed')} failed\n`);
process.exitCode = results.find(({ status }) => status !== 0)?.status ?? 0;

function runVitest() {
  const file = path.join(folder, 'vitest.json');
  const vitest = path.join('node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const status = run([vitest, 'run', ...reporters, ...args], env);
  const { numPassedTests = 0, numFailedTests = 0, numFailedTestSuites = 0 } = read(file);
  const failed = numFailedTests === 0 && status !== 0 ? Math.max(1, numFailedTestSuites) : numFailedTests;
  return { passed: numPassedTests, failed, status };
}

function runPages() {
  const file = path.join(folder, 'pages.json');
  const playwright = path.join('node_modules', '@playwright', 'test', 'cli.js');
  const status = run([playwright, 'test', '-c', 'test/pages', '--reporter=list,json'], {
    ...env,
    PLAYWRIGHT_JSON_OUTPUT_FILE: file,
  });
  const { expected = 0, unexpected = 0, flaky = 0 } = read(file).stats ?? {};
  return { passed: expected + flaky, failed: unexpected === 0 && status !== 0 ? 1 : unexpected, status };
}

function run(command, env) {
  return spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit', env }).status ?? 1;
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}
