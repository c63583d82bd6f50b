// Sets up a fresh machine: dependencies, build, browser. Running it again is safe and fast.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { openLog } from './logged.mjs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The root of the repository. */
export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** The seconds that each test file takes, so that the longest run first. */
export const durationsFile = path.join(root, 'test', 'durations.json');

/** Installs what is missing and builds; returns the environment in which the suites find their browser. */
export async function setUp({ browser = true } = {}) {
  checkNode();
  const run = openLog(path.join(root, '.cache', 'setup.log'), say);
  installDependencies(run);
  need(
    run(
      'building self-heal, which the commands run',
      process.execPath,
      [path.join(root, 'scripts', 'build.mjs')],
      { cwd: root, shell: false },
    ),
  );
  if (!browser) return process.env;
  const { findBrowser } = await import('./browser.mjs');
  const found = await findBrowser(run, say);
  say(`the suites run in ${found || 'Playwright’s own browser'}`);
  return { ...process.env, SELF_HEAL_CHROMIUM: found };
}

/** Runs a command in the repository and shows its output; throws if it fails. */
export function shown(command, args, options = {}) {
  execFileSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    ...options,
  });
}

function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Error(
    `self-heal needs Node.js 20.19 or newer; this is ${process.versions.node}. See https://nodejs.org`,
  );
}

function installDependencies(run) {
  const stamp = path.join(root, 'node_modules', '.self-heal-setup');
  const wanted = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const why =
    'installing the dependencies that package-lock.json names, with which self-heal is built and tested';
  need(run(why, 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root }));
  writeFileSync(stamp, wanted);
}

/** Ends the setup, with one line, if a required step has failed. */
function need(failed) {
  if (failed === null) return;
  say(failed);
  process.exit(1);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await setUp();
