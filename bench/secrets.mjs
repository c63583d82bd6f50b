// Measures how many planted secrets masking misses, how many innocent texts it masks, and how fast it handles long logs.
// Usage: node bench/secrets.mjs [-v]
import process from 'node:process';
import { createServer } from 'vite';

const verbose = process.argv.includes('-v');
const vite = await createServer({
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  server: { middlewareMode: true, hmr: false, watch: null },
});
const { leaksOf, plantedRedactors, plants } = await vite.ssrLoadModule('/test/rig/secrets/plants.ts');
const { innocents } = await vite.ssrLoadModule('/test/rig/secrets/innocents.ts');
const newRedactor = await plantedRedactors();

/** The plants or innocents that masking got wrong, with the result. */
const wrong = (all, textOf, isWrong) => {
  const redactor = newRedactor();
  return all.flatMap((one) => {
    const masked = redactor.clean(textOf(one));
    if (!isWrong(one, masked)) return [];
    if (verbose) console.log(`${one.kind ?? one}\n    -> ${masked.slice(0, 300)}`);
    return [one];
  });
};
const out = wrong(
  plants,
  ({ text }) => text,
  (plant, masked) => leaksOf([plant], masked).length > 0,
);
const newer = (all) => all.filter(({ kind }) => kind.includes('newer')).length;
const masked = wrong(
  innocents,
  (text) => text,
  (text, now) => now !== text,
);
console.log(
  `plants: ${plants.length}, out: ${out.length}; of them newer: ${newer(plants)}, out: ${newer(out)}`,
);
console.log(`innocents: ${innocents.length}, masked: ${masked.length}`);

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
const redactor = newRedactor();
for (const [name, text] of Object.entries(logs)) {
  const before = process.cpuUsage().user;
  redactor.clean(text);
  const seconds = (process.cpuUsage().user - before) / 1e6;
  console.log(`${name}: ${(text.length / 1e6 / seconds).toFixed(1)} MB/s`);
}
await vite.close();
