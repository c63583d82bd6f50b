// Runs all tests, even on a fresh machine: sets up, runs vitest and then the tests of the pages in a browser, and ends with the twenty slowest
// tests and `N passed, N failed`. With `--durations`, it also rewrites test/durations.json, by which the longest files run first. Other arguments are
// passed to vitest, and only vitest runs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { durationsFile, root, setUp } from './setup.mjs';

const SLOWEST = 20;

const env = await setUp();
const folder = mkdtempSync(path.join(tmpdir(), 'self-heal-tests-'));
const args = process.argv.slice(2).filter((arg) => arg !== '--durations');
const results = [runVitest(), ...(args.length === 0 ? [runPages()] : [])];
rmSync(folder, { recursive: true, force: true });
printSlowest(results.flatMap(({ tests }) => tests));
const total = (name) => results.reduce((sum, one) => sum + one[name], 0);
process.stdout.write(`${total('passed')} passed, ${total('failed')} failed\n`);
process.exitCode = results.find(({ status }) => status !== 0)?.status ?? 0;

function runVitest() {
  const file = path.join(folder, 'vitest.json');
  const vitest = path.join('node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=./scripts/test-times.mjs'];
  const status = run([vitest, 'run', ...reporters, ...args], { ...env, SELF_HEAL_TEST_TIMES: file });
  const { passed = 0, failed = 0, tests = [], seconds = [] } = read(file);
  if (process.argv.includes('--durations')) writeDurations(seconds);
  return { passed, failed: failed === 0 && status !== 0 ? 1 : failed, status, tests };
}

/** Writes how many seconds each file takes. */
function writeDurations(seconds) {
  const whole = seconds.map(([file, taken]) => [file, Math.max(1, Math.round(taken))]);
  const sorted = whole.toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

function runPages() {
  const file = path.join(folder, 'pages.json');
  const playwright = path.join('node_modules', '@playwright', 'test', 'cli.js');
  const status = run([playwright, 'test', '-c', 'test/pages', '--reporter=list,json'], {
    ...env,
    PLAYWRIGHT_JSON_OUTPUT_FILE: file,
  });
  const { stats = {}, suites = [] } = read(file);
  const { expected = 0, unexpected = 0, flaky = 0 } = stats;
  const failed = unexpected === 0 && status !== 0 ? 1 : unexpected;
  const tests = suites.flatMap(({ specs }) =>
    specs.map((spec) => ({ file: `test/pages/${spec.file}`, title: spec.title, duration: durationOf(spec) })),
  );
  return { passed: expected + flaky, failed, status, tests };
}

function durationOf({ tests }) {
  return tests.flatMap(({ results }) => results).reduce((sum, { duration }) => sum + duration, 0);
}

function printSlowest(tests) {
  const slowest = tests.toSorted((a, b) => b.duration - a.duration).slice(0, SLOWEST);
  const lines = slowest.map(
    ({ file, title, duration }) => `${(duration / 1000).toFixed(1).padStart(7)} s  ${file} › ${title}`,
  );
  process.stdout.write(`\nThe slowest tests:\n${lines.join('\n')}\n\n`);
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
