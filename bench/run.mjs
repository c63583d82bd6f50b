// All benchmarks, one after the other: `npm run bench`. Each prints what it compares and what it reached.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { root, setUp } from '../scripts/setup.mjs';

const env = await setUp();
for (const name of [
  'start-up',
  'green-suite',
  'overhead',
  'classify',
  'honesty',
  'copy',
  'blame',
  'proof-runs',
  'parallel',
  'evidence-memory',
  'prompts',
]) {
  console.log(`\n# ${name}`);
  spawnSync(process.execPath, [path.join(root, 'bench', `${name}.mjs`)], {
    cwd: root,
    stdio: 'inherit',
    env,
  });
}
