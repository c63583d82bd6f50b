// Kills whole runs with SIGKILL at random moments and looks at what the next commands make of it: the store opens, no finished try is
// lost or counted twice, no unproven change stays, no process is left, and `resume` heals the rest.
// Usage: node bench/kills.mjs [kills] [seed], after `npm run build`; the last line is the outcome as JSON.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { openStore } = await import(await bundleSrc('store/open-store.ts'));

const root = path.resolve(import.meta.dirname, '..');
const kills = Number(process.argv[2] ?? 100);
const seed = Number(process.argv[3] ?? Date.now() % 100_000);
const random = randomOf(seed);

// Two tests that need no browser, each of which wants a word in a file; the first agent of the first one is wrong.
const broken = { 'thanks.txt': 'Tanks', 'count.txt': '2' };
const mended = { 'thanks.txt': 'Thanks', 'count.txt': '3' };
const project = {
  'package.json': '{ "name": "kills", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\n',
  'playwright.config.ts': `import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, reporter: [['list']] });`,
  'tests/words.spec.ts': `import { test, expect } from '@playwright/test';
    import { readFileSync } from 'node:fs';
    const read = (name: string) => readFileSync(name + '.txt', 'utf8').trim();
    test('says thanks', () => expect(read('thanks')).toBe('Thanks'));
    test('counts', () => { if (read('count') !== '3') throw new RangeError('the count is wrong'); });`,
  'fixer.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
    const prompt = readFileSync(0, 'utf8');
    const isThanks = /^Test:.*says thanks/m.test(prompt);
    const word = !isThanks ? '3' : prompt.includes('APPROACH 1 FAILED') ? 'Thanks' : 'Tonks';
    writeFileSync(isThanks ? 'thanks.txt' : 'count.txt', word);
    setTimeout(() => {}, 50);`,
  'agents.yaml': `version: 1
runner: own
runners: { own: { command: [node, fixer.mjs], prompt: stdin } }
retries: { max: 3, backoff: { initial: 10ms, factor: 1, max: 10ms } }
verify: { repeat: 1, flips: 0, ring: none }
`,
};

const dir = mkdtempSync(path.join(tmpdir(), 'self-heal-kills-'));
const found = [];
const moments = { beforeTheRun: 0, firstSuite: 0, healing: 0, afterTheEnd: 0 };
try {
  for (const [file, text] of Object.entries(project)) write(file, text);
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'), 'junction');
  reset();
  const start = performance.now();
  const whole = await command(['run']).ended;
  const wholeMs = performance.now() - start;
  if (whole.exitCode !== 0)
    throw new Error(`a run that nobody kills ends with ${whole.exitCode}:\n${whole.stderr}`);
  console.log(`seed ${seed}, a whole run takes ${Math.round(wholeMs)} ms`);
  for (let n = 1; n <= kills; n += 1) await killOnce(n, Math.round(random() * wholeMs));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
for (const one of found) console.log(one);
console.log(JSON.stringify({ seed, kills, moments, violations: found.length }));
if (found.length > 0) process.exitCode = 1;

async function killOnce(n, afterMs) {
  reset();
  const wrong = (what) => found.push(`kill ${n} after ${afterMs} ms (seed ${seed}): ${what}`);
  const run = command(['run']);
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  run.kill();
  await run.ended;
  const runId = runIds().at(-1);
  const events = runId ? eventsOf(runId) : [];
  moments[momentOf(events)] += 1;
  const next = await command(['stats', '--json']).ended;
  if (next.exitCode !== 0) wrong(`the next command ends with ${next.exitCode}: ${next.stderr}`);
  await checkCounts(events, wrong);
  const resumed = await command(events.length > 0 ? ['resume'] : ['run']).ended;
  const isOver = events.at(-1)?.type === 'run.ended' || resumed.stderr.includes('came to its end');
  if (resumed.exitCode !== (isOver ? 2 : 0)) wrong(`resume ends with ${resumed.exitCode}: ${resumed.stderr}`);
  for (const [file, text] of Object.entries(mended)) {
    const is = readFileSync(path.join(dir, file), 'utf8');
    if (is !== text) wrong(`${file} is ${is} in the end`);
  }
  await checkCounts(runIds().flatMap(eventsOf), wrong);
  for (const id of runIds()) for (const left of marked(id)) wrong(`left behind: ${left}`);
}

/** The store against what the runs said: each judged try once, and each count is what these tries come to. */
async function checkCounts(events, wrong) {
  const file = path.join(dir, '.self-heal', 'ledger.db');
  if (!existsSync(file)) {
    if (events.some((one) => one.type === 'attempt.judged')) wrong('a judged try, and no store');
    return;
  }
  const opened = await openStore(file, dir);
  if (!opened.ok) {
    wrong(`the store does not open: ${opened.error.message}`);
    return;
  }
  const db = opened.value;
  const tries = await db
    .selectFrom('attempts')
    .selectAll()
    .where('finished_at', 'is not', null)
    .orderBy('finished_at')
    .execute();
  const signatures = await db.selectFrom('signatures').selectAll().execute();
  await db.destroy();
  const told = events
    .filter((one) => one.type === 'attempt.judged')
    .map((one) => keyOf(one.runId, one.causeId, one.attempt));
  const kept = tries.map((one) => keyOf(one.run_id, one.cause_id, one));
  for (const key of told) if (!kept.includes(key)) wrong(`lost: ${key}`);
  // The kill may fall between the store and the event.
  if (kept.length - told.length > 1) wrong(`${kept.length} tries kept, ${told.length} told`);
  const ids = tries.map((one) => `${one.run_id} ${one.cause_id} ${one.n}`);
  if (new Set(ids).size < ids.length) wrong(`kept twice: ${ids.join(', ')}`);
  for (const { signature, count, healed_times: healed } of signatures) {
    const own = tries.filter((one) => one.signature === signature).map((one) => one.judged);
    const since = own
      .slice(own.lastIndexOf('green') + 1)
      .filter((one) => ['still-failing', 'vanished'].includes(one)).length;
    if (count !== since) wrong(`${signature} counts ${count}, and its tries come to ${since}`);
    if (healed < own.filter((one) => one === 'green').length) wrong(`${signature} has lost a heal`);
  }
}

function keyOf(runId, causeId, { n, judged }) {
  return `${runId} ${causeId} ${n} ${judged}`;
}

function momentOf(events) {
  if (events.length === 0) return 'beforeTheRun';
  if (events.at(-1).type === 'run.ended') return 'afterTheEnd';
  return events.some((one) => one.type === 'cause.found' || one.purpose === 'confirm')
    ? 'healing'
    : 'firstSuite';
}

function reset() {
  rmSync(path.join(dir, '.self-heal'), { recursive: true, force: true });
  for (const [file, text] of Object.entries(broken)) write(file, text);
}

function write(file, text) {
  mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
  writeFileSync(path.join(dir, file), text);
}

function command(args) {
  const child = spawn(process.execPath, [path.join(root, 'bin', 'self-heal.js'), ...args], {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  // Not `close`: what a killed run leaves behind may hold the stream open.
  const ended = new Promise((resolve) => child.on('exit', (exitCode) => resolve({ exitCode, stderr })));
  return { ended, kill: () => child.kill('SIGKILL') };
}

function runIds() {
  const runs = path.join(dir, '.self-heal', 'runs');
  return existsSync(runs) ? readdirSync(runs).toSorted() : [];
}

function eventsOf(runId) {
  const file = path.join(dir, '.self-heal', 'runs', runId, 'events.ndjson');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  // The last piece is empty, or a line that the kill cut.
  return lines.slice(0, -1).map((line) => ({ ...JSON.parse(line), runId }));
}

/** The processes that carry the marker of a run (Linux). */
function marked(runId) {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        const isZombie = /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
        return (
          !isZombie &&
          readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`SELF_HEAL_RUN_ID=${runId}`)
        );
      } catch {
        return false;
      }
    });
}

/** Mulberry32: the same moments for the same seed. */
function randomOf(start) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
