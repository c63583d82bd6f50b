// How exactly, and in how many runs, the change that broke a test is found. Each of twelve faults is planted into a diff of 1, 10, 40 and 200
// unrelated hunks, spread over 1, 5 and 30 commits, in a real repository; states are made in its tree by the journal that a run uses. Limits:
// the culprit exact in 95 %, a median of 8 runs for 40 hunks. What is run again is a program of asserts instead of a Playwright suite, so that
// hundreds of searches end within minutes: a state that does not load is unresolved, as it is for Playwright. Usage: node bench/blame.mjs [seed [hunks …]]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { createBlame } = await import(await bundleSrc('blame/create-blame.ts'));
const { openWorkspace } = await import(await bundleSrc('workspace/workspace.ts'));
const { contentsOf, keepChange } = await import(await bundleSrc('workspace/change.ts'));

const seed = Number(process.argv[2] ?? 1);
const sizes = process.argv.length > 3 ? process.argv.slice(3).map(Number) : [1, 10, 40, 200];
const random = generator(seed);
const modules = 24;
const functions = 12;

/** What breaks `src/shop.mjs` and its neighbours: edits of [file, from, to]; all of them together are the culprit. */
const faults = [
  ['operator', ['src/shop.mjs', 'sum + one.price', 'sum - one.price']],
  ['off by one', ['src/shop.mjs', 'slice(0, count)', 'slice(1, count)']],
  ['condition', ['src/shop.mjs', 'if (stock <= 0)', 'if (stock < 0)']],
  ['missing await', ['src/shop.mjs', 'const found = await load(', 'const found = load(']],
  ['constant', ['src/rates.mjs', '0.19', '0.16']],
  ['route', ['src/routes.mjs', "'/orders'", "'/order'"]],
  ['line taken out', ['src/shop.mjs', '  name = name.trim();\n', '']],
  ['export renamed', ['src/rates.mjs', 'export function vat', 'export function salesTax']],
  ['syntax', ['src/rates.mjs', 'return Math.round(', 'return Math.round((']],
  [
    'throws',
    ['src/routes.mjs', '// Known routes.', "if (Object.keys(routes).length > 1) throw new Error('routes');"],
  ],
  ['renamed on both sides', ['src/rates.mjs', 'net: ', 'amount: '], ['src/shop.mjs', '.net', '.amount']],
  [
    'moved',
    ['src/routes.mjs', "  orders: '/orders',\n", ''],
    ['src/shop.mjs', 'routes.orders', "'/v2' + routes.home"],
  ],
];

const app = {
  'src/rates.mjs': `// Rates of tax.
const rate = 0.19;

// Rounds to cents.
export function vat(net) {
  return Math.round(net * rate * 100) / 100;
}

// Both in one.

export function priced(price) {
  return { net: price, tax: vat(price) };
}
`,
  'src/routes.mjs': `// Where pages are.
export const routes = {
  home: '/home',

  // Of the customer.

  orders: '/orders',
};

// Known routes.

export const known = Object.values(routes);
`,
  'src/shop.mjs': `import { priced, vat } from './rates.mjs';
import { known, routes } from './routes.mjs';

// Adds up.

export function total(items) {
  return items.reduce((sum, one) => sum + one.price, 0);
}

// The first ones.

export function first(items, count) {
  return items.slice(0, count);
}

// What is left.

export function canBuy(stock) {
  if (stock <= 0) return false;
  return true;
}

// From the server.

export async function title(load) {
  const found = await load('x');
  return found.title;
}

// As it is typed.

export function label(name) {
  name = name.trim();
  return name + '!';
}

// Where to.

export const ordersAt = () => routes.orders;

// What it costs.

export const costs = (price) => priced(price).net + vat(price);

export const count = known.length;
`,
};

const check = `import assert from 'node:assert/strict';
import * as shop from './src/shop.mjs';
const others = await Promise.all(Array.from({ length: ${modules} }, (_, at) => import('./src/other' + at + '.mjs')));
assert.equal(shop.total([{ price: 1 }, { price: 2 }]), 3);
assert.deepEqual(shop.first([1, 2, 3], 2), [1, 2]);
assert.equal(shop.canBuy(0), false);
assert.equal(await shop.title(async () => ({ title: 'x' })), 'x');
assert.equal(shop.label(' a '), 'a!');
assert.equal(shop.ordersAt(), '/orders');
assert.equal(shop.costs(100), 119);
// The test was changed with the app where that is the fault.
const rates = await import('./src/rates.mjs');
assert.ok('net' in rates.priced(1));
assert.equal(typeof others[0].f0(1), 'number');
`;

const ref = {
  id: 't1',
  titlePath: ['check.mjs', 'all'],
  location: { file: 'check.mjs', line: 1, column: 1 },
  project: '',
};

const results = [];
for (const hunks of sizes) {
  for (const commits of [1, 5, 30]) {
    for (const [name, ...edits] of faults)
      results.push({ hunks, commits, name, ...(await search({ hunks, commits, edits })) });
  }
  report(
    results.filter((one) => one.hunks === hunks),
    `${hunks} hunks`,
  );
}
const exact = results.filter((one) => one.exact).length / results.length;
const forty = median(results.filter((one) => one.hunks === 40).map((one) => one.runs));
report(results, 'all');
for (const one of results.filter((one) => !one.exact)) console.log(`missed: ${JSON.stringify(one)}`);
console.log(
  `exact ${(exact * 100).toFixed(1)} % (at least 95), median of runs for 40 hunks ${forty} (at most 8); load ${loadavg()[0].toFixed(1)}`,
);
process.exitCode = exact >= 0.95 && forty <= 8 ? 0 : 1;

function report(some, title) {
  const runs = some.map((one) => one.runs).toSorted((a, b) => a - b);
  const right = some.filter((one) => one.exact).length;
  console.log(
    `${title}: ${right} of ${some.length} exact; runs: median ${median(runs)}, most ${runs.at(-1)}`,
  );
}

/** Plants one fault among harmless changes, and searches. */
async function search({ hunks, commits, edits }) {
  const dir = mkdtempSync(path.join(tmpdir(), 'self-heal-blame-'));
  try {
    const git = (...args) =>
      execFileSync(
        'git',
        ['-c', 'user.name=me', '-c', 'user.email=me@example.com', '-c', 'commit.gpgsign=false', ...args],
        { cwd: dir, stdio: 'pipe' },
      );
    write(dir, { ...app, ...otherModules(), 'check.mjs': check, '.gitignore': '.self-heal\n' });
    git('init', '--quiet', '--initial-branch=main');
    git('add', '--all');
    git('commit', '--quiet', '-m', 'base');
    const base = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: dir }).toString().trim();
    const faultAt = Math.floor(random() * commits);
    const places = shuffled(harmlessPlaces()).slice(0, hunks);
    for (let step = 0; step < commits; step += 1) {
      for (const [file, line] of places.filter((_, at) => at % commits === step))
        rewrite(dir, file, line, `// changed in step ${step}`);
      if (step === faultAt) for (const [file, from, to] of edits) replace(dir, file, from, to);
      git('commit', '--quiet', '--all', '--allow-empty', '-m', `step ${step}`);
    }
    if (test(dir) === 'expected') throw new Error(`no fault: ${JSON.stringify(edits)}`);
    return await blame(dir, base, { edits, faultAt });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function blame(dir, base, { edits, faultAt }) {
  const runDir = path.join(dir, '.self-heal', 'runs', '20260101-000000-0001');
  mkdirSync(runDir, { recursive: true });
  const contents = contentsOf(runDir);
  const workspace = await openWorkspace({
    project: dir,
    runId: '20260101-000000-0001',
    runDir,
    contents,
    warn: console.log,
    onCopy: async () => undefined,
  });
  const said = [];
  let answer = null;
  const find = createBlame({
    cwd: dir,
    workspace,
    contents,
    keepChange: (change) => keepChange(runDir, change),
    rootFromProject: '',
    prepare: async () => null,
    runAgain: async () => suiteRun(test(dir)),
    warn: console.log,
    signal: new AbortController().signal,
    now: () => Date.now(),
    limits: { runs: 12, timeMs: 600_000 },
    named: base,
    lastGreen: async () => null,
    isTest: (file) => file === 'check.mjs',
    likelyMs: () => null,
    tell: (_, one) => {
      if (typeof one === 'string') said.push(one);
      else answer = one;
    },
    always: true,
  });
  await find([cause()]);
  const files = new Set(edits.map(([file]) => file));
  const isCulprit = ({ file, now, old }) =>
    files.has(file) && ![...now, ...old].some((line) => line.includes('// changed in step'));
  const exact =
    answer !== null &&
    answer.hunks.length === edits.length &&
    answer.hunks.every(isCulprit) &&
    answer.hunks.every(({ commit }) => commit?.subject === `step ${faultAt}`);
  return {
    exact,
    runs: answer?.runs ?? 12,
    minimal: answer?.isMinimal ?? false,
    ...(exact ? {} : { said, found: answer?.hunks }),
  };
}

function test(dir) {
  const { status, stderr } = spawnSync(process.execPath, ['check.mjs'], { cwd: dir, encoding: 'utf8' });
  if (status === 0) return 'expected';
  // What Playwright says of a file that cannot be loaded: the test is not there.
  return /SyntaxError/.test(stderr) ? null : 'unexpected';
}

function suiteRun(outcome) {
  const tests = outcome === null ? [] : [{ test: ref, outcome, retries: 0, durationMs: 1 }];
  return { tests, suiteFailure: outcome === null ? { scope: 'suite', errors: [], stderr: '' } : null };
}

/** Nothing is known of where the error came from, so that the search alone is measured. */
function cause() {
  const failure = { scope: 'test', test: ref, durationMs: 1, errors: [] };
  const lead = { n: 1, failure, diagnosis: { facts: { source: null } }, rerunIds: ['t1'] };
  return { id: 'c1', lead, members: [lead], parent: null, environment: null };
}

function otherModules() {
  const body = (at) =>
    `export function f${at}(x) {\n  // one\n  const y = x + ${at};\n  const z = y * 2;\n\n  return z;\n}\n`;
  const text = Array.from({ length: functions }, (_, at) => body(at)).join('\n');
  return Object.fromEntries(Array.from({ length: modules }, (_, at) => [`src/other${at}.mjs`, text]));
}

/** Lines of comment, in the modules beside and in those that break. */
function harmlessPlaces() {
  const beside = Array.from({ length: modules }, (_, at) =>
    Array.from({ length: functions }, (_, n) => [`src/other${at}.mjs`, n * 8 + 1]),
  ).flat();
  return [
    ...beside,
    ['src/shop.mjs', 3],
    ['src/shop.mjs', 9],
    ['src/shop.mjs', 15],
    ['src/rates.mjs', 0],
    ['src/routes.mjs', 0],
  ];
}

function rewrite(dir, file, line, text) {
  const place = path.join(dir, file);
  const lines = readFileSync(place, 'utf8').split('\n');
  lines[line] = text;
  writeFileSync(place, lines.join('\n'));
}

function replace(dir, file, from, to) {
  const place = path.join(dir, file);
  const text = readFileSync(place, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} does not hold ${from}`);
  writeFileSync(place, text.replace(from, to));
}

function write(dir, files) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  }
}

function shuffled(items) {
  return items
    .map((one) => [random(), one])
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** mulberry32: the same numbers for the same seed. */
function generator(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
