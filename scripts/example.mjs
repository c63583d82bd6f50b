// Shows the main job on the bundled example, even on a fresh machine: copies the shop into a temporary folder, plants faults, and runs self-heal
// there with the example's scripted agent. Needs no account and no model.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { root, setUp } from './setup.mjs';

const defaultFaults = ['build-then-rls', 'undefined-id', 'renamed-testid', 'flaky'];
const faults = process.argv.slice(2).length > 0 ? process.argv.slice(2) : defaultFaults;
const env = await setUp();
const { copyShop, plant } = await import('../fixtures/shop/plant.mjs');
const shop = path.join(mkdtempSync(path.join(tmpdir(), 'self-heal-example-')), 'shop');
await copyShop(shop);
await plant(shop, faults);
process.stderr.write(`
A small shop with a Playwright suite was copied to ${shop}
and these faults were planted in it: ${faults.join(', ')}.
The built-in fixer goes first. It leaves the other faults to the example's scripted agent (agent/fixer.mjs), which reads the evidence and
edits files without a model.

`);
const { status } = spawnSync(process.execPath, [path.join(root, 'bin', 'self-heal.js'), 'run'], {
  cwd: shop,
  stdio: 'inherit',
  env,
});
tellWho();
process.stderr.write(`Its changes: git -C ${shop} diff\n`);
process.stderr.write(`Its report: ${path.join(shop, '.self-heal', 'latest', 'report.html')}\n`);
process.exitCode = status ?? 1;

/** Prints who healed what: the built-in fixer or the scripted agent. */
function tellWho() {
  const report = path.join(shop, '.self-heal', 'latest', 'report.json');
  const { causes } = JSON.parse(readFileSync(report, 'utf8'));
  for (const { id, category, attempts } of causes) {
    const by = attempts.findLast(({ end }) => end.kind === 'green')?.runner;
    if (by) {
      const who = by === 'built-in' ? 'the built-in fixer' : 'the scripted agent';
      process.stderr.write(`${id} ${category}: healed by ${who}\n`);
    }
  }
}
