// Checks workers with a PostgreSQL queue (SC-2), with a real server and real processes: 20 shards have collected 1,000 failures of 20 causes,
// and 8 workers heal them, two of which are killed with SIGKILL while their agents work. Exactly 20 causes must be healed by at most 22 agents,
// and nothing may be lost or counted twice: neither in the report, nor in the store, nor among the started processes. No browser; the agents are
// scripts. One failure of each cause is really collected, and the others are derived from it. So that this takes only minutes on two cores,
// failures are not confirmed (`--confirm 1` does) and fixes are proven as with `--verify quick`.
// Usage: node bench/scale.mjs [--shards 20] [--failures 1000] [--causes 20] [--workers 8] [--kill 2] [--agent-ms 3000] [--confirm 0]. For a
// quick try: --shards 2 --failures 12 --causes 4 --workers 3 --kill 1. Exits 1 if anything is wrong.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bundleSrc } from '../scripts/bundle-src.mjs';
import { root, selfHeal } from './scratch-project.mjs';

const { postgresPrograms, startPostgres } = await import(await bundleSrc('../test/rig/postgres.ts'));
const { openStore } = await import(await bundleSrc('store/open-store.ts'));

const option = (value) => ({ type: 'string', default: value });
const { values } = parseArgs({
  options: {
    shards: option('20'),
    failures: option('1000'),
    causes: option('20'),
    workers: option('8'),
    kill: option('2'),
    'agent-ms': option('3000'),
    confirm: option('0'),
  },
});
const [shards, failures, causes] = [values.shards, values.failures, values.causes].map(Number);
const [workers, kills, agentMs] = [values.workers, values.kill, values['agent-ms']].map(Number);
const confirm = Number(values.confirm);
const each = Math.ceil(failures / causes);
const parts = Array.from({ length: causes }, (_, n) => `part${n + 1}`);
const home = mkdtempSync(path.join(tmpdir(), 'self-heal-scale-'));
const at = (...names) => path.join(home, ...names);
const running = new Set();

const files = {
  'package.json': '{ "name": "bench", "type": "module" }',
  '.gitignore': 'node_modules\n.self-heal\ntest-results\n',
  'playwright.config.ts': `import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 2, reporter: 'null' });`,
  'fixer.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
    const part = /^Test:.*\\b(part\\d+) /m.exec(readFileSync(0, 'utf8'))[1];
    writeFileSync(${JSON.stringify(at('started'))} + '/' + part + '-' + process.pid + '-' + process.ppid, '');
    await new Promise((done) => setTimeout(done, ${agentMs}));
    writeFileSync('src/' + part + '.mjs', "export const state = 'right';\\n");`,
  'agents.yaml': `version: 1
runner: own
runners: { own: { command: [node, fixer.mjs], prompt: stdin } }
fixer: none
blame: { enabled: false }
limits: { agentRuns: ${causes + kills} }
queue: { lease: 10s }
verify: { level: quick, confirm: ${confirm} }
`,
};
for (const part of parts) {
  files[`src/${part}.mjs`] = "export const state = 'wrong';\n";
  files[`tests/${part}.spec.ts`] = `import { test, expect } from '@playwright/test';
    import { state } from '../src/${part}.mjs';
    for (let n = 0; n < Number(process.env.EACH ?? ${each}); n += 1)
      test('${part} ' + n, () => { expect(state === 'right', '${part} is right').toBe(true); });`;
}

/** Checks out the repository, as every machine does. */
function checkout(name) {
  execFileSync('git', ['clone', '-q', at('origin'), at(name)]);
  symlinkSync(path.join(root, 'node_modules'), at(name, 'node_modules'), 'junction');
  return at(name);
}

function start(cwd, args, env = {}) {
  const { SELF_HEAL_RUN_ID: _, ...inherited } = process.env;
  const said = [];
  const child = spawn(process.execPath, [selfHeal, ...args], {
    cwd,
    env: { ...inherited, CI: '1', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.on('data', (data) => said.push(data));
  running.add(child);
  const ended = once(child, 'exit').then(([code]) => {
    running.delete(child);
    return code;
  });
  return { child, ended, said: () => Buffer.concat(said).toString() };
}

/** Makes the folders that the shards leave: the collected failure of each cause, once for each of its tests. */
async function makeShards() {
  const dir = checkout('shard');
  const collecting = start(dir, ['run', '--collect'], { EACH: '1' });
  if ((await collecting.ended) !== 1) throw new Error(collecting.said());
  const runs = path.join(dir, '.self-heal', 'runs');
  const source = path.join(runs, readdirSync(runs)[0]);
  const read = (file) => JSON.parse(readFileSync(path.join(source, file), 'utf8'));
  const collected = read('collected.json');
  const records = new Map();
  for (const n of readdirSync(path.join(source, 'failures'))) {
    const record = read(`failures/${n}/failure.json`);
    records.set(record.failure.test.titlePath.at(-1).split(' ')[0], record);
  }
  const cli = path.join(dir, 'node_modules', '@playwright', 'test', 'cli.js');
  const listed = execFileSync(process.execPath, [cli, 'test', '--list', '--reporter=json'], {
    cwd: dir,
    maxBuffer: 1e9,
  });
  const tests = JSON.parse(listed).suites.flatMap(({ specs }) => specs);
  for (let shard = 1; shard <= shards; shard += 1) {
    const own = tests.filter((_, n) => n % shards === shard - 1);
    const folder = at('artifacts', `shard-${shard}`);
    const run = { ...collected.run, tests: [], rerunIds: {} };
    own.forEach(({ id, title }, n) => {
      const record = records.get(title.split(' ')[0]);
      const { test } = record.failure;
      const renamed = { ...test, id, titlePath: [...test.titlePath.slice(0, -1), title] };
      run.tests.push({ test: renamed, outcome: 'unexpected', retries: 0, durationMs: 5 });
      const failure = { ...record.failure, test: renamed };
      const place = path.join(folder, 'failures', String(n + 1));
      mkdirSync(place, { recursive: true });
      writeFileSync(
        path.join(place, 'failure.json'),
        JSON.stringify({ ...record, n: n + 1, failure, rerunIds: [id] }),
      );
    });
    writeFileSync(
      path.join(folder, 'collected.json'),
      JSON.stringify({
        ...collected,
        shard: { current: shard, total: shards },
        run,
        failures: own.map((_, n) => n + 1),
      }),
    );
  }
  return tests.length;
}

/** Kills the workers whose agents start first, each as soon as its agent works. */
async function killSome(all) {
  const killed = new Set();
  while (killed.size < kills) {
    for (const name of readdirSync(at('started'))) {
      const pid = Number(name.split('-')[2]);
      const worker = all.find(({ child }) => child.pid === pid);
      if (!worker || killed.has(pid) || killed.size === kills) continue;
      worker.child.kill('SIGKILL');
      killed.add(pid);
    }
    await delay(50);
  }
}

function check(what, found, wanted) {
  const isRight = typeof wanted === 'function' ? wanted(found) : found === wanted;
  console.log(`${isRight ? 'ok ' : 'NOT'} ${what}: ${found}`);
  if (!isRight) process.exitCode = 1;
}

const postgres = await startPostgres(postgresPrograms());
try {
  mkdirSync(at('started'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(at('origin', file)), { recursive: true });
    writeFileSync(at('origin', file), text);
  }
  const git = (cwd, ...args) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.org', ...args], {
      cwd,
      encoding: 'utf8',
    });
  git(at('origin'), 'init', '-q');
  git(at('origin'), 'add', '--all');
  git(at('origin'), 'commit', '-qm', 'one');
  const total = await makeShards();
  const SELF_HEAL_STORE = await postgres.newDatabase('scale');
  const env = { SELF_HEAL_STORE };
  const places = Array.from({ length: workers }, (_, n) => checkout(`worker${n + 1}`));
  const heal = checkout('heal');
  console.log(
    `${shards} shards, ${total} failures, ${causes} causes, ${workers} workers, ${kills} to be killed`,
  );

  const began = performance.now();
  const all = places.map((place) => start(place, ['worker'], env));
  const coordinator = start(heal, ['heal', '--from', at('artifacts'), '--queue'], env);
  await Promise.race([killSome(all), coordinator.ended]);
  const exitCode = await coordinator.ended;
  const seconds = Math.round((performance.now() - began) / 1000);
  for (const { child } of all) child.kill('SIGTERM');
  await Promise.all(all.map(({ ended }) => ended));

  const report = JSON.parse(readFileSync(path.join(heal, '.self-heal', 'latest', 'report.json'), 'utf8'));
  const started = readdirSync(at('started'));
  const healed = report.causes.filter(({ verdict }) => verdict === 'healed');
  const ids = new Set(report.tests.map(({ id }) => id));
  if (exitCode !== 0) console.log(coordinator.said().slice(-4000));
  check('exit code', exitCode, 0);
  check('causes healed', healed.length, causes);
  check('causes in all', report.causes.length, causes);
  check('tests healed', report.tests.filter(({ verdict }) => verdict === 'healed').length, total);
  check('tests in the report, each once', ids.size === report.tests.length ? ids.size : -1, total);
  check(`agents started, at most ${causes + kills}`, started.length, (found) => found <= causes + kills);
  check('agents in the report', report.totals.agentRuns, started.length);
  const { value: db } = await openStore(SELF_HEAL_STORE, '/');
  const attempts = await db.selectFrom('attempts').selectAll().where('agent', 'is not', null).execute();
  const signatures = await db.selectFrom('signatures').selectAll().execute();
  await db.destroy();
  check('attempts in the store', attempts.length, started.length);
  check('attempts that healed', attempts.filter(({ judged }) => judged === 'green').length, causes);
  check('signatures healed once', signatures.filter((one) => one.healedTimes === 1).length, causes);
  check('signatures with a failed try', signatures.filter(({ count }) => count > 0).length, 0);
  const alive = started.filter((name) => isAlive(Number(name.split('-')[1])));
  check('agents left alive', alive.length, 0);
  check(
    'checkouts of workers that differ',
    places.filter((one) => git(one, 'status', '--porcelain') !== '').length,
    0,
  );
  const { playwrightRuns } = report.totals;
  console.log(`${seconds} s, ${playwrightRuns} Playwright runs of the coordinator`);
  const figures = {
    shards,
    failures: total,
    causes,
    workers,
    kills,
    agents: started.length,
    seconds,
    playwrightRuns,
  };
  console.log(JSON.stringify({ load: loadavg()[0], ...figures }));
} finally {
  for (const child of running) child.kill('SIGKILL');
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
