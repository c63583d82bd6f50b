// Measures how long the prompts for the example's faults are: plants them in copies of the shop, runs `self-heal run --dry-run` there, and
// prints the size of each prompt. Counts a third of the characters as tokens, which is more than any current tokenizer makes of English, code
// and paths.
// Usage: node bench/prompts.mjs, after `npm run build`; needs a browser (SELF_HEAL_CHROMIUM), like the tests.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { copyShop, plant, readFaults } from '../fixtures/shop/plant.mjs';

const wanted = 2_500;
const charactersPerToken = 3;
const self = path.resolve(import.meta.dirname, '..', 'bin', 'self-heal.js');
// No test runs if the build is broken, so such a fault is planted alone.
const breaksTheBuild = (name) => name.startsWith('build-');
const names = (await readFaults()).map(({ name }) => name);
const sets = [
  ...names.filter(breaksTheBuild).map((name) => [name]),
  names.filter((name) => !breaksTheBuild(name)),
];

const rows = [];
for (const faults of sets) rows.push(...(await promptsOf(faults)));
const sorted = rows.map(({ tokens }) => tokens).toSorted((a, b) => a - b);
const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
console.table(rows, ['fault', 'class', 'characters', 'tokens']);
console.log(`${rows.length} prompts, the median has at most ${median} tokens (wanted: under ${wanted})`);
if (rows.length === 0 || median >= wanted) process.exitCode = 1;

async function promptsOf(faults) {
  const folder = mkdtempSync(path.join(tmpdir(), 'self-heal-prompts-'));
  const shop = path.join(folder, 'shop');
  await copyShop(shop);
  await plant(shop, faults);
  spawnSync(process.execPath, [self, 'run', '--dry-run'], {
    cwd: shop,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const run = path.join(shop, '.self-heal', 'latest');
  const { causes } = JSON.parse(readFileSync(path.join(run, 'report.json'), 'utf8'));
  const found = causes.map(({ category, headline, evidence }) => {
    const { length } = readFileSync(path.join(run, evidence, 'prompt.md'), 'utf8');
    const fault = faults.length === 1 ? faults[0] : headline.slice(0, 60);
    return { fault, class: category, characters: length, tokens: Math.ceil(length / charactersPerToken) };
  });
  rmSync(folder, { recursive: true, force: true });
  return found;
}
