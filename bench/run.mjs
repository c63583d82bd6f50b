// Runs all benchmarks one after another, or those named: `npm run bench [name …]`. Each prints what it compares and its results.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { root, setUp } from '../scripts/setup.mjs';

const all = [
  'start-up',
  'green-suite',
  'overhead',
  'confirming',
  'classify',
  'honesty',
  'copy',
  'blame',
  'flaky',
  'proof-runs',
  'parallel',
  'evidence-memory',
  'prompts',
];
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(', ')}; choose from ${all.join(', ')}`);
  process.exit(2);
}
const env = await setUp();
for (const name of asked.length > 0 ? asked : all) {
  console.log(`\n# ${name}`);
  spawnSync(process.execPath, [path.join(root, 'bench', `${name}.mjs`)], {
    cwd: root,
    stdio: 'inherit',
    env,
  });
}
