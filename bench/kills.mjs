// Kills whole runs with SIGKILL, in every phase in turn (the seed determines the first), while a user edits files, and checks the state after the next
// commands: the tree is as it was or has a proven fix, repository, modes and packages are unchanged, no process and no copy is left, the
// store opens, no finished attempt is lost or counted twice, and the next run heals the rest. A phase that was not hit is not shown.
// Usage: node bench/kills.mjs [kills] [seed], after `npm run build`; the last line is the outcome as JSON.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { openStore } = await import(await bundleSrc('store/open-store.ts'));
const { recoverKilledRuns } = await import(await bundleSrc('run/recover.ts'));
const { listRunsAtWork } = await import(await bundleSrc('work-folder.ts'));

const root = path.resolve(import.meta.dirname, '..');
const kills = Number(process.argv[2] ?? 100);
const seed = Number(process.argv[3] ?? Date.now() % 100_000);
const random = randomOf(seed);

// Two tests that need no browser; each expects a module to export a certain word. The first agent of the first test is wrong.
const module = (word) => `export const word = '${word}';\n`;
const broken = { 'thanks.mjs': module('Tanks'), 'count.mjs': module('2') };
const mended = { 'thanks.mjs': module('Thanks'), 'count.mjs': module('3') };
/** Files that only the user touches. */
const users = { 'notes.txt': 'notes\n', '.env': 'KEY=1\n', 'ignored/data.db': 'data\n' };
const project = {
  'package.json': '{ "name": "kills", "type": "module" }',
  '.gitignore': 'node_modules\ntest-results\n.env\nignored\nedited.txt\n',
  'playwright.config.ts': `import { defineConfig } from '@playwright/test';
    export default defineConfig({ testDir: 'tests', workers: 1, reporter: [['list']] });`,
  'tests/words.spec.ts': `import { test, expect } from '@playwright/test';
    import { word as count } from '../count.mjs';
    import { word as thanks } from '../thanks.mjs';
    test('says thanks', () => expect(thanks).toBe('Thanks'));
    test('counts', () => { if (count !== '3') throw new RangeError('the count is wrong'); });`,
  'fixer.mjs': `import { readFileSync, writeFileSync } from 'node:fs';
    const prompt = readFileSync(0, 'utf8');
    const isThanks = /^Test:.*says thanks/m.test(prompt);
    const isWrong = isThanks && !prompt.includes('APPROACH 1 FAILED');
    const text = isWrong ? readFileSync('thanks.mjs', 'utf8') + '// The word is right.\\n' : "export const word = '" + (isThanks ? 'Thanks' : '3') + "';\\n";
    writeFileSync(isThanks ? 'thanks.mjs' : 'count.mjs', text);
    setTimeout(() => {}, 50);`,
  'agents.yaml': `version: 1
runner: own
runners: { own: { command: [node, fixer.mjs], prompt: stdin } }
retries: { max: 3, backoff: { initial: 10ms, factor: 1, max: 10ms } }
limits: { parallel: 2 }
# Its fixes revert uncommitted changes; with another intent, each would become a question.
verify: { repeat: 2, flips: 1, intent: tests }
`,
};

const dir = mkdtempSync(path.join(tmpdir(), 'self-heal-kills-'));
const found = [];
/** When each phase begins, according to the run's own events and files. The kill comes up to `spreadMs` later. */
const phases = {
  start: { begins: () => true, spreadMs: 600 },
  'first run': { begins: (events) => last(events, 'suite.started')?.purpose === 'first', spreadMs: 900 },
  'confirming run': {
    begins: (events) => last(events, 'suite.started')?.purpose === 'confirm',
    spreadMs: 900,
  },
  copying: { begins: () => existsSync(copyMarker()), spreadMs: 40 },
  agent: { begins: (events) => events.at(-1)?.type.startsWith('agent.'), spreadMs: 60 },
  'patch and apply': { begins: (events) => events.at(-1)?.type === 'agent.ended', spreadMs: 25 },
  're-run': { begins: (events) => last(events, 'suite.started')?.purpose === 'retest', spreadMs: 900 },
  proof: { begins: (events) => last(events, 'suite.started')?.purpose === 'proof', spreadMs: 2500 },
  revert: { begins: (events) => isOver(events, ['retest', 'proof']), spreadMs: 25 },
  regression: { begins: (events) => isLate(events), spreadMs: 900 },
};
const hits = Object.fromEntries(Object.keys(phases).map((name) => [name, 0]));
let withJournal = 0;
try {
  for (const [file, text] of Object.entries({ ...project, ...broken, ...users })) write(file, text);
  mkdirSync(path.join(dir, 'node_modules'));
  for (const name of ['@playwright', 'playwright', 'playwright-core'])
    symlinkSync(path.join(root, 'node_modules', name), path.join(dir, 'node_modules', name), 'junction');
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=me', '-c', 'user.email=me@example.com', 'commit', '--quiet', '-m', 'first');
  write('notes.txt', 'stashed\n');
  git('-c', 'user.name=me', '-c', 'user.email=me@example.com', 'stash', '--quiet');
  write('staged.txt', 'staged\n');
  git('add', 'staged.txt');
  chmodSync(path.join(dir, 'count.mjs'), 0o600);
  reset();
  const start = performance.now();
  const whole = await command(['run']).ended;
  const wholeMs = performance.now() - start;
  if (whole.exitCode !== 0)
    throw new Error(`an undisturbed run exits with ${whole.exitCode}:\n${whole.stderr}`);
  console.log(`seed ${seed}, a whole run takes ${Math.round(wholeMs)} ms`);
  const names = Object.keys(phases);
  for (let n = 1; n <= kills; n += 1) {
    await killOnce(n, names[(seed + n) % names.length]);
    if (n % 10 === 0) console.log(`${n} kills, ${found.length} violations: ${JSON.stringify(hits)}`);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
console.log(JSON.stringify({ seed, kills, hits, withJournal, violations: found.length }));
if (found.length > 0) process.exitCode = 1;

async function killOnce(n, phase) {
  reset();
  const { begins, spreadMs } = phases[phase];
  // Every fourth time, a second run on top of a healed first one, whose counts and fixes exist already.
  const isSecond = n % 4 === 0;
  if (isSecond) {
    await command(['run']).ended;
    for (const [file, text] of Object.entries(broken)) write(file, text);
  }
  const earlier = new Set(runIds());
  const untouched = stateOfProject();
  const wrong = (what) => {
    found.push(what);
    console.log(`kill ${n}, ${phase} (seed ${seed}): ${what}`);
  };
  const user = startEditing();
  const run = command(['run']);
  const own = () => runIds().filter((id) => !earlier.has(id));
  let isHit = true;
  for (const until = Date.now() + 60_000; !begins(own().flatMap(eventsOf)); await pause(2)) {
    if (run.isOver() || Date.now() > until) {
      isHit = false;
      break;
    }
  }
  if (isHit) await pause(random() * spreadMs);
  if (isHit && !run.isOver()) hits[phase] += 1;
  run.kill();
  await run.ended;
  user.stop();
  if (existsSync(path.join(dir, '.self-heal', 'journal.json'))) withJournal += 1;
  const recovered = await recoverKilledRuns(dir);
  if (!recovered.ok) wrong(`the next command says: ${recovered.error.message}`);
  for (const [file, text] of Object.entries(mended)) {
    const is = readFileSync(path.join(dir, file), 'utf8');
    if (is !== text && is !== broken[file]) wrong(`${file} is ${is} after the kill`);
  }
  if (stateOfProject() !== untouched)
    wrong(`the project is not as it was:\n${stateOfProject()}\nbefore:\n${untouched}`);
  if (user.wrote() !== read('edited.txt')) wrong('an edit of the user is lost');
  if (!(await holdsSoon(() => !existsSync(copyMarker())))) wrong('a copy is left');
  await checkCounts(runIds().flatMap(eventsOf), wrong);
  const next = await command(['run']).ended;
  if (next.exitCode !== 0) wrong(`the next run ends with ${next.exitCode}: ${next.stderr}`);
  for (const [file, text] of Object.entries(mended))
    if (read(file) !== text) wrong(`${file} is ${read(file)} in the end`);
  await checkCounts(runIds().flatMap(eventsOf), wrong);
  for (const id of runIds()) for (const left of marked(id)) wrong(`left behind: ${left}`);
}

/** Waits twice the five seconds that the watchdog has to end the processes of a killed run, in case the machine is busy. */
async function holdsSoon(holds) {
  for (const until = Date.now() + 10_000; !holds(); await pause(50)) if (Date.now() > until) return false;
  return true;
}

/** Returns the parts of a project that no fix touches: repository, modes, packages, the user's files. */
function stateOfProject() {
  const parts = [
    git('rev-parse', 'HEAD'),
    git('for-each-ref'),
    git('stash', 'list'),
    git('ls-files', '--stage'),
    ...['package.json', 'staged.txt', 'notes.txt', '.env', 'ignored/data.db'].map(
      (file) => `${file} ${read(file)}`,
    ),
    ...['count.mjs', 'thanks.mjs', '.env'].map(
      (file) => `${file} ${statSync(path.join(dir, file)).mode.toString(8)}`,
    ),
    readdirSync(path.join(dir, 'node_modules')).join(),
    readdirSync(dir)
      .filter((name) => !['.self-heal', 'test-results', 'edited.txt'].includes(name))
      .toSorted()
      .join(),
  ];
  return parts.join('\n');
}

/** Simulates a user who saves a file again and again. */
function startEditing() {
  let text = '';
  const timer = setInterval(() => {
    text += 'edited\n';
    write('edited.txt', text);
  }, 5);
  write('edited.txt', text);
  return { stop: () => clearInterval(timer), wrote: () => text };
}

function copyMarker() {
  const name = `self-heal-${createHash('sha256').update(realpathSync(dir)).digest('hex').slice(0, 12)}`;
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
  const isThere = [cache, tmpdir()]
    .map((place) => path.join(place, name))
    .find((folder) => existsSync(folder));
  return isThere ?? path.join(tmpdir(), name);
}

function last(events, type) {
  return events.findLast((one) => one.type === type);
}

function isOver(events, purposes) {
  const end = events.at(-1);
  return end?.type === 'suite.ended' && purposes.includes(end.purpose);
}

/** Whether the run has reached the regression run, which checks that green tests stay green. */
function isLate(events) {
  const end = last(events, 'suite.started');
  return end?.purpose === 'regression';
}

function git(...args) {
  return execFileSync('git', args, { cwd: dir, encoding: 'utf8' });
}

function read(file) {
  return readFileSync(path.join(dir, file), 'utf8');
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Checks the store against the events: each judged attempt is in it once, and the counts are those of these attempts. */
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
    .where('finishedAt', 'is not', null)
    .orderBy('finishedAt')
    .execute();
  const signatures = await db.selectFrom('signatures').selectAll().execute();
  await db.destroy();
  const told = events
    .filter((one) => one.type === 'attempt.judged')
    .map(({ runId, causeId, attempt }) => keyOf(runId, causeId, { n: attempt.n, ended: attempt.end.kind }));
  const kept = tries.map((one) => keyOf(one.runId, one.causeId, one));
  for (const key of told) if (!kept.includes(key)) wrong(`lost: ${key}`);
  // The kill may fall between the write to the store and the event.
  if (kept.length - told.length > 1) wrong(`${kept.length} tries kept, ${told.length} told`);
  const ids = tries.map((one) => `${one.runId} ${one.causeId} ${one.n}`);
  if (new Set(ids).size < ids.length) wrong(`kept twice: ${ids.join(', ')}`);
  for (const { signature, count, healedTimes: healed } of signatures) {
    const own = tries.filter((one) => one.signature === signature).map((one) => one.ended);
    const since = own
      .slice(own.lastIndexOf('green') + 1)
      .filter((one) => ['still-failing', 'vanished', 'taken-out'].includes(one)).length;
    if (count !== since) wrong(`${signature} counts ${count}, and its tries come to ${since}`);
    if (healed < own.filter((one) => one === 'green').length) wrong(`${signature} has lost a heal`);
  }
}

function keyOf(runId, causeId, { n, ended }) {
  return `${runId} ${causeId} ${n} ${ended}`;
}

function reset() {
  rmSync(path.join(dir, '.self-heal'), { recursive: true, force: true });
  for (const [file, text] of Object.entries({ ...broken, ...users })) write(file, text);
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
  // Not `close`: processes that a killed run leaves behind may hold the stream open.
  const ended = new Promise((resolve) => child.on('exit', (exitCode) => resolve({ exitCode, stderr })));
  return { ended, kill: () => child.kill('SIGKILL'), isOver: () => child.exitCode !== null };
}

function runIds() {
  const runs = path.join(dir, '.self-heal', 'runs');
  const ended = existsSync(runs) ? readdirSync(runs) : [];
  return [...ended, ...listRunsAtWork(dir).keys()].map(String).toSorted();
}

function eventsOf(runId) {
  const folder = listRunsAtWork(dir).get(runId) ?? path.join(dir, '.self-heal', 'runs', runId);
  const file = path.join(folder, 'events.ndjson');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  // The last piece is empty, or a line that the kill cut off.
  return lines.slice(0, -1).map((line) => ({ ...JSON.parse(line), runId }));
}

/** Returns the processes that carry the marker of a run (Linux). */
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

/** Creates a mulberry32 generator: the same moments for the same seed. */
function randomOf(start) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
