// Checks whether a change may land: format, lint, types, unused code, package correctness, tests.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { root, setUp } from './setup.mjs';

const bin = (name) => path.join(root, 'node_modules', '.bin', name);
const lintPaths = ['src', 'test', 'bench', 'scripts', 'bin', 'fixtures'];
/** @type {[name: string, command: string, args: string[]][]} */
const steps = [
  ['format', bin('prettier'), ['--check', '--log-level=warn', '.']],
  ['lint', bin('oxlint'), ['--type-aware', '--quiet', ...lintPaths]],
  ['types', bin('tsc'), ['-p', 'tsconfig.test.json']],
  ['types of the page', bin('tsc'), ['--noEmit', '-p', 'src/ui/page']],
  ['unused code', bin('knip'), []],
  // It packs, and thereby builds the types that the next step looks for. Only ESM is published.
  ['types of the package', bin('attw'), ['--pack', '--profile', 'esm-only', '--entrypoints', '.']],
  ['package', bin('publint'), ['--strict']],
  ['requirements', process.execPath, ['scripts/requirements.mjs']],
  ...(process.argv.includes('--no-tests') ? [] : [['tests', process.execPath, ['scripts/test.mjs']]]),
];

await setUp({ browser: false });
const failed = [];
for (const [name, command, args] of steps) {
  process.stdout.write(`check: ${name}\n`);
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) failed.push(name);
}
process.stdout.write(failed.length > 0 ? `check: failed: ${failed.join(', ')}\n` : 'check: clean\n');
process.exitCode = failed.length > 0 ? 1 : 0;
