// Measures how many planted secrets masking misses, by kind, how many harmless texts it masks, and how fast it handles long logs.
// Usage: node bench/secrets.mjs [-v]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createServer } from 'vite';

const verbose = process.argv.includes('-v');
const vite = await createServer({
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  server: { middlewareMode: true, hmr: false, watch: null },
});
const load = (file) => vite.ssrLoadModule(file);
const { allPlants, plantedRedactor } = await load('/test/rig/secrets/measure.ts');
const { leakOf } = await load('/test/rig/secrets/plant.ts');
const { harmlessTexts } = await load('/test/rig/secrets/harmless-texts.ts');

/** Two megabytes each. */
const repeated = (text) => text.repeat(Math.ceil(2e6 / text.length));
const entry = JSON.stringify({
  req: { url: '/api/orders/7', headers: { cookie: 'sid=Zq1Xw2Ce3V; theme=dark' } },
});
const logs = {
  'lines of text': repeated('2026-11-22T10:00:00.000Z INFO GET /api/orders/7 200 12ms\n'),
  'lines of JSON': repeated(`${entry}\n`),
  'one line of JSON': repeated(entry),
  'one line of names': repeated('a password '),
  'JSON in JSON in JSON': repeated(JSON.stringify(JSON.stringify(JSON.stringify(entry)))),
};

const root = mkdtempSync(path.join(tmpdir(), 'secrets-'));
const redactor = await plantedRedactor(root);
rmSync(root, { recursive: true });
const rows = new Map();
for (const plant of allPlants) {
  const masked = redactor.clean(plant.text);
  const row = rows.get(plant.kind) ?? { kind: plant.kind, plants: 0, out: 0 };
  rows.set(plant.kind, row);
  row.plants += 1;
  const leak = leakOf(plant, masked);
  if (leak === null) continue;
  row.out += 1;
  if (verbose) console.log(`OUT ${plant.kind}: ${plant.spelling}: ${masked.slice(0, 300)}`);
}
const touched = harmlessTexts.filter((text) => redactor.clean(text) !== text);
if (verbose) for (const text of touched) console.log(`MASKED ${text}\n    -> ${redactor.clean(text)}`);
console.table([...rows.values()]);
console.log(`plants: ${allPlants.length}, out: ${[...rows.values()].reduce((sum, { out }) => sum + out, 0)}`);
console.log(`harmless texts: ${harmlessTexts.length}, masked: ${touched.length}`);
for (const [name, text] of Object.entries(logs)) {
  const before = process.cpuUsage().user;
  redactor.clean(text);
  const seconds = (process.cpuUsage().user - before) / 1e6;
  console.log(`${name}: ${(text.length / 1e6 / seconds).toFixed(1)} MB/s`);
}
await vite.close();
