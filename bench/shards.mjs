// Measures what it takes to read, group and report what the shards of a large suite collected (SC-1): 20 shards with 500 failures each, 20
// causes in all, each failure with 20 console entries and 10 requests. 20 failures are really collected, and the others are derived from them.
// Nothing is healed (`heal --dry-run`), so that only self-heal itself is measured.
// Usage: node bench/shards.mjs [--shards 20] [--failures 500]; exits 1 if a limit is exceeded.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { scratchProject, selfHeal } from './scratch-project.mjs';

const limit = { seconds: 10, mb: 500 };
const { values } = parseArgs({
  options: { shards: { type: 'string', default: '20' }, failures: { type: 'string', default: '500' } },
});
const total = Number(values.shards);
const each = Number(values.failures);

const project = scratchProject({
  '.gitignore': 'node_modules\n.self-heal\ntest-results\nartifacts\nusage.json\n',
  'playwright.config.ts': `
    import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 2, fullyParallel: true, reporter: 'null' });`,
  'tests/all.spec.ts': `
    import { test } from '@playwright/test';
    for (let n = 0; n < 20; n += 1)
      test('reads ' + n, () => { throw new TypeError("Cannot read properties of undefined (reading 'field" + 'abcdefghijklmnopqrst'[n % 20] + "')"); });`,
});

/** Runs self-heal; returns its processor time in seconds and its memory peak in MB. */
function measured(args) {
  const file = path.join(project.dir, 'usage.json');
  const atExit = `import { writeFileSync } from 'node:fs';
    process.on('exit', () => writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.resourceUsage())));`;
  const hook = `data:text/javascript,${encodeURIComponent(atExit)}`;
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', hook, selfHeal, ...args], {
    cwd: project.dir,
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  if (status !== 1) throw new Error(`self-heal ${args.join(' ')} ended with ${status}\n${stderr}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(readFileSync(file, 'utf8'));
  const wall = (performance.now() - began) / 1000;
  return { seconds: (userCPUTime + systemCPUTime) / 1e6, wall, mb: maxRSS / 1024, stdout };
}

/** Makes a shard from the collected failures, each copied as often as needed for other tests. */
function makeShard(source, n) {
  const target = path.join(project.dir, 'artifacts', `shard-${n}`, path.basename(source));
  const read = (file) => readFileSync(path.join(source, file), 'utf8');
  const renamed = (text, copy) =>
    JSON.parse(text.replaceAll(/[\da-f]{20}-[\da-f]{20}/g, (id) => `${id}-${n}-${copy}`));
  const numbers = readdirSync(path.join(source, 'failures'));
  const shard = JSON.parse(read('collected.json'));
  const run = { ...shard.run, tests: [], rerunIds: {} };
  const failures = [];
  for (let copy = 0; failures.length < each; copy += 1) {
    run.tests.push(...renamed(read('collected.json'), copy).run.tests);
    for (const number of numbers) {
      const record = renamed(read(`failures/${number}/failure.json`), copy);
      failures.push(failures.length + 1);
      const folder = path.join(target, 'failures', String(failures.length));
      mkdirSync(folder, { recursive: true });
      const evidence = { ...record.evidence, console: entries, network: requests };
      writeFileSync(
        path.join(folder, 'failure.json'),
        JSON.stringify({ ...record, n: failures.length, evidence }),
      );
    }
  }
  writeFileSync(
    path.join(target, 'collected.json'),
    JSON.stringify({ ...shard, shard: { current: n, total }, run, failures }),
  );
}

const entries = Array.from({ length: 20 }, (_, n) => ({
  time: n,
  type: 'log',
  text: `rendered the list of orders ${n} `.repeat(6),
  location: 'http://localhost:3000/app.js:1:1',
  stack: null,
}));
const requests = Array.from({ length: 10 }, (_, n) => ({
  time: n,
  method: 'GET',
  url: `http://localhost:3000/api/orders/${n}`,
  resourceType: 'fetch',
  status: 200,
  durationMs: 12,
  failure: null,
  requestHeaders: { accept: 'application/json' },
  responseHeaders: { 'content-type': 'application/json' },
  requestBody: null,
  responseBody: JSON.stringify({
    orders: Array.from({ length: 20 }, (_, id) => ({ id, name: 'Tea', price: 3 })),
  }),
}));

try {
  const git = (...args) => execFileSync('git', args, { cwd: project.dir });
  git('init', '-q');
  git('add', '--all');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.org', 'commit', '-qm', 'one');
  const collected = measured(['run', '--collect', '--shard', '1/1']);
  const runs = path.join(project.dir, '.self-heal', 'runs');
  const [source] = readdirSync(runs);
  for (let n = 1; n <= total; n += 1) makeShard(path.join(runs, source), n);
  const healed = measured(['heal', '--from', 'artifacts', '--dry-run', '--json']);
  const { tests, causes } = JSON.parse(healed.stdout);
  const say = (what, { seconds, wall, mb }) =>
    console.log(
      `${what}: ${seconds.toFixed(1)} s of processor time (${wall.toFixed(1)} s), ${mb.toFixed(0)} MB`,
    );
  say('collecting 20 failures', collected);
  say(`reading, grouping and reporting ${tests.length} failures of ${total} shards`, healed);
  console.log(
    `${causes.length} causes; at most ${limit.seconds} s and ${limit.mb} MB; load ${loadavg()[0].toFixed(1)}`,
  );
  if (healed.seconds > limit.seconds || healed.mb > limit.mb || causes.length !== 20) process.exitCode = 1;
} finally {
  project.remove();
}
