// Checks whether a change may land: format, lint, types, unused code, package correctness, tests.
import path from 'node:path';
import process from 'node:process';
import { root, setUp } from './setup.mjs';

const bin = (name) => path.join(root, 'node_modules', '.bin', name);
const lintPaths = ['src', 'test', 'bench', 'scripts', 'bin', 'fixtures'];
/** @typedef {[name: string, command: string, args: string[]]} Step */
/** @type {Step[]} */
const ofSources = [
  ['types', bin('tsc'), ['-p', 'tsconfig.test.json']],
  ['types of the page', bin('tsc'), ['--noEmit', '-p', 'src/clients/ui/page']],
  ['lint', bin('oxlint'), ['--type-aware', '--quiet', ...lintPaths]],
];
const strictly = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', '--types', 'node'];
/** @type {Step[]} */
const others = [
  // attw packs, which also builds the types for the next step. Only ESM is published.
  ['types of the package', bin('attw'), ['--pack', '--profile', 'esm-only', '--entrypoints', '.']],
  // Checks them as a project without `skipLibCheck` would.
  ['types of the package, alone', bin('tsc'), [...strictly, 'dist/index.d.ts']],
  ['package', bin('publint'), ['--strict']],
  ['requirements', process.execPath, ['scripts/requirements.mjs']],
  ['lines of each folder', process.execPath, ['scripts/budget.mjs']],
  ['format', bin('prettier'), ['--check', '--log-level=warn', '.']],
  ['unused code', bin('knip'), []],
];

await setUp({ browser: false });
// The setup installs it first.
const { execa } = await import('execa');
const failed = [];
// Two at a time, since each of them uses one processor.
await Promise.all([inOrder(ofSources), inOrder(others)]);
if (!process.argv.includes('--no-tests')) {
  const { exitCode } = await execa(process.execPath, ['scripts/test.mjs'], {
    cwd: root,
    stdio: 'inherit',
    reject: false,
  });
  if (exitCode !== 0) failed.push('tests');
}
process.stdout.write(failed.length > 0 ? `check: failed: ${failed.join(', ')}\n` : 'check: clean\n');
process.exitCode = failed.length > 0 ? 1 : 0;

/** @param {Step[]} steps */
async function inOrder(steps) {
  const shell = process.platform === 'win32';
  for (const [name, command, args] of steps) {
    const { exitCode, all } = await execa(command, args, { cwd: root, all: true, reject: false, shell });
    process.stdout.write(`check: ${name}\n${all && `${all}\n`}`);
    if (exitCode !== 0) failed.push(name);
  }
}
