// Runs the tests that take too long for every change: `npm run test:long`. The whole example with all faults, a hundred kills of the store
// and fifty of whole runs, and all real coding agents.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { root } from './setup.mjs';

const env = { ...process.env, SELF_HEAL_TEST_LONG: '1' };
const run = (script, ...args) =>
  spawnSync(process.execPath, [path.join(root, 'scripts', script), ...args], {
    cwd: root,
    stdio: 'inherit',
    env,
  }).status ?? 1;

const statuses = [
  run('test.mjs', '--project', 'long'),
  run('test-agents.mjs', 'claude', 'codex', 'gemini', 'opencode', 'copilot'),
];
process.exitCode = statuses.some((status) => status !== 0) ? 1 : 0;
