// Measures how precisely, and in how many runs, the change that broke a test is found. Each of the shop's faults (fixtures/shop) is planted into
// a diff of 1, 10, 40 and 200 unrelated hunks, spread over 1, 5 and 30 commits, in a real repository; its tree is changed through the journal
// that a run uses. Limits: the exact culprit in 95 % of the searches, a median of 8 runs for 40 hunks. The unrelated hunks are comment lines, so
// that states that differ only in those have the same result; the shop's own Playwright suite runs once for each state of the fault's hunks.
// Twenty more worlds each with 40 hunks in five commits and 200 in ten, whose tests are simulated, have faults of two or three hunks in one commit, of
// which any two alone lead to another error (a declaration and its uses), and single faults that are green in two of three runs with the fault.
// Usage: node bench/blame.mjs [seed [hunks …]], after `npm run build`
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import { copyShop, readFaults } from '../fixtures/shop/plant.mjs';
import { bundleSrc } from '../scripts/bundle-src.mjs';

const { createSearchStarter } = await import(await bundleSrc('clients/blame/blame.ts'));
const { openWorkspace } = await import(await bundleSrc('workspace/workspace.ts'));
const { openContentStore, storeChange } = await import(await bundleSrc('workspace/change.ts'));

const seed = Number(process.argv[2] ?? 1);
const sizes = process.argv.length > 3 ? process.argv.slice(3).map(Number) : [1, 10, 40, 200];
const random = generator(seed);
const modules = 24;
const functions = 12;
const WORLDS = 20;
/** How often a racy test is green with its fault. */
const luck = 2 / 3;
/** Marks an unrelated hunk. */
const mark = 'changed in step';

const patches = path.resolve(import.meta.dirname, '../fixtures/shop/faults');
/** No change causes the flaky fault. */
const faults = (await readFaults()).filter(({ name }) => name !== 'flaky');
const scratch = mkdtempSync(path.join(tmpdir(), 'self-heal-blame-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
/** The shop that runs, with its packages. The one that is searched has none. */
const running = path.join(scratch, 'running');
await copyShop(running);
const shop = path.join(scratch, 'shop');
const isKept = (file) => !/^(?:node_modules|\.cache)$/.test(path.relative(running, file));
await cp(running, shop, { recursive: true, filter: isKept });
const shopFiles = readdirSync(shop, { recursive: true, withFileTypes: true })
  .filter((one) => one.isFile())
  .map((one) => path.relative(shop, path.join(one.parentPath, one.name)));
const answers = new Map();
let playwrightRuns = 0;

const results = [];
for (const hunks of sizes) {
  for (const commits of [1, 5, 30]) {
    for (const fault of faults)
      results.push({ hunks, commits, name: fault.name, ...(await search({ hunks, commits, fault })) });
  }
  const some = results.filter((one) => one.hunks === hunks);
  report(some, `${hunks} hunks`);
}
const forty = median(results.filter((one) => one.hunks === 40).map((one) => one.runs));
for (const [hunks, commits] of [
  [40, 5],
  [200, 10],
]) {
  const inWorlds = [];
  for (const fault of Array.from({ length: WORLDS }, (_, at) => world(at)))
    inWorlds.push({ hunks, commits, name: fault.name, ...(await search({ hunks, commits, fault })) });
  const areSets = ({ name }) => !name.startsWith('racy');
  report(inWorlds.filter(areSets), `pairs and triples among ${hunks} hunks`);
  report(
    inWorlds.filter((one) => !areSets(one)),
    `racy tests, ${hunks} hunks`,
  );
  results.push(...inWorlds);
}
const exact = results.filter((one) => one.exact).length / results.length;
report(results, 'all');
for (const one of results.filter(({ runs }) => runs > 8))
  console.log(`many runs: ${JSON.stringify({ ...one, found: one.found?.length })}`);
for (const one of results.filter((one) => !one.exact)) console.log(`missed: ${JSON.stringify(one)}`);
console.log(
  `exact ${(exact * 100).toFixed(1)} % (at least 95), median of runs for 40 hunks ${forty} (at most 8); ${playwrightRuns} Playwright runs; load ${loadavg()[0].toFixed(1)}`,
);
process.exitCode = exact >= 0.95 && forty <= 8 ? 0 : 1;

function report(some, title) {
  const runs = some.map((one) => one.runs).toSorted((a, b) => a - b);
  const right = some.filter((one) => one.exact).length;
  console.log(
    `${title}: ${right} of ${some.length} exact; runs: median ${median(runs)}, most ${runs.at(-1)}`,
  );
}

/** Plants one fault among harmless changes, and searches for it. */
async function search({ hunks, commits, fault }) {
  const dir = mkdtempSync(path.join(scratch, 'searched-'));
  try {
    const git = (...args) =>
      execFileSync(
        'git',
        ['-c', 'user.name=me', '-c', 'user.email=me@example.com', '-c', 'commit.gpgsign=false', ...args],
        { cwd: dir, stdio: 'pipe', encoding: 'utf8' },
      );
    await cp(shop, dir, { recursive: true });
    write(dir, { ...otherModules(), '.gitignore': '.self-heal\n' });
    git('init', '--quiet', '--initial-branch=main');
    git('add', '--all');
    git('commit', '--quiet', '-m', 'base');
    const base = git('rev-parse', 'HEAD').trim();
    const plant =
      fault.plant ?? (() => git('apply', '--whitespace=nowarn', path.join(patches, `${fault.name}.patch`)));
    plant(dir);
    const planted = linesChanged(git('diff', '--unified=0'));
    git('checkout', '--quiet', '.');
    const faultAt = Math.floor(random() * commits);
    const places = shuffled(harmlessPlaces(dir, planted)).slice(0, hunks);
    for (let step = 0; step < commits; step += 1) {
      const now = places.filter((_, at) => at % commits === step);
      for (const [file, line] of now)
        comment(dir, file, step > faultAt ? line + movedBy(planted, file, line) : line, step);
      if (step === faultAt) plant(dir);
      git('commit', '--quiet', '--all', '--allow-empty', '-m', `step ${step}`);
    }
    return await blame(dir, base, { fault, planted, faultAt });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns by how many lines the planted fault moves a line down. */
function movedBy({ places }, file, line) {
  const above = places.filter((one) => one.file === file && one.line <= line);
  return above.reduce((sum, { longer }) => sum + longer, 0);
}

/** Returns the lines that a patch removes and adds, their places, and by how many lines each place grows. */
function linesChanged(diff) {
  const lines = diff.split('\n');
  const texts = new Set(lines.filter((line) => /^[-+](?![-+]{2} )/.test(line)).map((line) => line.slice(1)));
  let file = '';
  const places = lines.flatMap((line) => {
    if (line.startsWith('+++ b/')) file = line.slice(6);
    const [, at, old = '1', now = '1'] = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))?/.exec(line) ?? [];
    return at === undefined ? [] : [{ file, line: Number(at), longer: Number(now) - Number(old) }];
  });
  return { texts, places };
}

async function blame(dir, base, { fault, planted, faultAt }) {
  const runId = '20260101-000000-0001';
  const runDir = path.join(dir, '.self-heal', 'runs', runId);
  mkdirSync(runDir, { recursive: true });
  const contents = openContentStore(runDir);
  const workspace = await openWorkspace({
    project: dir,
    runId,
    runDir,
    contents,
    warn: console.log,
    onCopy: async () => undefined,
  });
  const said = [];
  let answer = null;
  const startSearch = createSearchStarter({
    cwd: dir,
    workspace,
    contents,
    storeChange: async (change) => storeChange(runDir, change),
    prepare: async () => null,
    rerun: async () => suiteRun(dir, fault),
    warn: console.log,
    signal: new AbortController().signal,
    now: () => Date.now(),
    timeMs: 600_000,
    startedAt: Infinity,
    namedBase: base,
    findLastGreen: async () => null,
    reportPaths: [],
    computeSuiteSignature: async ({ suiteFailure }) => suiteFailure && 'suite',
    findRelatedPositions: async () => [],
    isTest: (file) => file.startsWith('tests/'),
    report: (_, one) => {
      if (typeof one === 'string') said.push(one);
      else answer = one;
    },
  });
  const searches = await startSearch([causeOf(dir, fault)]);
  while (await searches.next());
  // If one of the fault's hunks breaks the test without the other, either is a correct answer.
  const isOfFault = ({ old, now }) => {
    const lines = [...old, ...now];
    return lines.some((line) => planted.texts.has(line)) && !lines.some((line) => line.includes(mark));
  };
  const exact =
    answer !== null &&
    answer.isMinimal &&
    answer.hunks.every((one) => isOfFault(one) && one.commit?.subject === `step ${faultAt}`);
  return { exact, runs: answer?.runs ?? 0, ...(exact ? {} : { said, found: answer?.hunks }) };
}

function refOf(title) {
  const location = { file: 'shop.spec.ts', line: 1, column: 1 };
  return { id: title, titlePath: ['shop', title], location, project: 'chromium' };
}

/** Runs the shop's suite on this state, without the comments. Results are cached by state. */
function suiteRun(dir, fault) {
  if (fault.run) return fault.run(dir);
  const { name, tests } = fault;
  const texts = shopTexts(dir);
  const key = createHash('sha256')
    .update(JSON.stringify([tests, texts]))
    .digest('hex');
  const known = answers.get(key);
  if (known) return known;
  writeShop(dir);
  // If the suite itself fails, any of its tests will do.
  const [title = 'adds a product'] = tests;
  const args = ['playwright', 'test', '--reporter=json', '--retries=0', '--grep', title];
  const { stdout, stderr } = spawnSync('npx', args, {
    cwd: running,
    encoding: 'utf8',
    env: { ...process.env, SHOP_PORT: '4319' },
  });
  playwrightRuns += 1;
  const specs = /^ *"expected": (\d+),\n *"skipped": \d+,\n *"unexpected": (\d+)/m.exec(stdout);
  const [expected, unexpected] = [Number(specs?.[1] ?? 0), Number(specs?.[2] ?? 0)];
  const outcome = expected > 0 ? 'expected' : 'unexpected';
  const errors = /^\{/m.test(stdout) ? errorsIn(JSON.parse(stdout)) : [];
  const failure = { scope: 'test', test: refOf(title), errors, durationMs: 1 };
  const answer =
    expected + unexpected === 0
      ? { tests: [], failures: [], rerunIds: {}, suiteFailure: { scope: 'suite', errors, stderr } }
      : {
          tests: [{ test: refOf(title), outcome, retries: 0, durationMs: 1 }],
          failures: outcome === 'expected' ? [] : [failure],
          rerunIds: {},
          suiteFailure: null,
        };
  console.log(`  ${name}: a state is ${expected + unexpected === 0 ? 'not started' : outcome}`);
  answers.set(key, answer);
  return answer;
}

/** Returns the errors of the suite, or of the test that ran, as Playwright reports them. */
function errorsIn({ errors, suites }) {
  const inSuite = (suite) => [
    ...(suite.suites ?? []).flatMap(inSuite),
    ...(suite.specs ?? []).flatMap((spec) =>
      spec.tests.flatMap((test) => test.results.flatMap((one) => one.errors)),
    ),
  ];
  const plain = (text = '') => stripVTControlCharacters(text);
  return [...errors, ...suites.flatMap(inSuite)].map(({ message, stack }) => ({
    message: plain(message),
    stack: plain(stack),
    causes: [],
  }));
}

/** Reads the files of the searched state, without the comments. */
function shopTexts(dir) {
  return shopFiles.map((file) => [file, withoutComments(readFileSync(path.join(dir, file), 'utf8'))]);
}

function writeShop(dir) {
  for (const [file, text] of shopTexts(dir)) writeFileSync(path.join(running, file), text);
}

/** Returns the facts about the failure that a search needs. */
function causeOf(dir, fault) {
  const [title] = fault.tests;
  const once = fault.plant ? fault : { ...fault, tests: title === undefined ? [] : [title] };
  const { failures, suiteFailure } = suiteRun(dir, once);
  const failure = suiteFailure ?? failures[0];
  const lead = {
    failure,
    rerunIds: title === undefined ? [] : [title],
    signature: 'suite',
    // Only Playwright's own message is known.
    diagnosis: { facts: { source: null }, why: [] },
    evidence: { errors: failure.errors, sources: [] },
  };
  return { id: '1', lead, members: [lead], parent: null, environment: null };
}

/** Returns a fault of one to three hunks in other modules, and the result of its simulated test. */
function world(at) {
  const size = (at % 3) + 1;
  const files = Array.from({ length: size }, (_, n) => `src/other${(at * 3 + n) % modules}.mjs`);
  const line = '  const z = y * 2;';
  const title = 'simulated';
  let runs = 0;
  return {
    name: `${size === 1 ? 'racy' : `${size} hunks`} ${at}`,
    tests: [title],
    plant: (dir) => {
      for (const name of files) {
        const file = path.join(dir, name);
        const parts = readFileSync(file, 'utf8').split(line);
        const [before, after] = [parts.slice(0, (at % functions) + 1), parts.slice((at % functions) + 1)];
        writeFileSync(file, `${before.join(line)}${line} // broken${after.join(line)}`);
      }
    },
    run: (dir) => {
      const there = files.filter((name) => readFileSync(path.join(dir, name), 'utf8').includes('// broken'));
      // The run that finds the failure is red.
      const isLucky = size === 1 && (runs += 1) > 1 && random() < luck;
      const isGreen = there.length === 0 || isLucky;
      // Half of the failures name one of their files.
      const stack = at % 2 === 0 ? `at f (${files[0]}:1:1)` : '';
      const errors = [{ message: there.length === size ? 'boom' : 'is not defined', stack, causes: [] }];
      return {
        tests: [
          { test: refOf(title), outcome: isGreen ? 'expected' : 'unexpected', retries: 0, durationMs: 1 },
        ],
        failures: isGreen ? [] : [{ scope: 'test', test: refOf(title), errors, durationMs: 1 }],
        rerunIds: {},
        suiteFailure: null,
      };
    },
  };
}

function otherModules() {
  const body = (at) =>
    `export function f${at}(x) {\n  // one\n  const y = x + ${at};\n  const z = y * 2;\n\n  return z;\n}\n`;
  const text = Array.from({ length: functions }, (_, at) => body(at)).join('\n');
  return Object.fromEntries(Array.from({ length: modules }, (_, at) => [`src/other${at}.mjs`, text]));
}

/** Returns where a comment line can be placed: between functions of the other modules, and of the shop's own files away from the fault. */
function harmlessPlaces(dir, { places }) {
  const beside = Array.from({ length: modules }, (_, at) =>
    Array.from({ length: functions }, (_, n) => [`src/other${at}.mjs`, n * 8 + 1]),
  ).flat();
  const own = shopFiles
    .filter((file) => /\.(?:ts|mjs|sql)$/.test(file))
    .flatMap((file) => {
      const lines = readFileSync(path.join(dir, file), 'utf8').split('\n');
      return lines.flatMap((line, at) => (line === '' && at < lines.length - 1 ? [[file, at]] : []));
    });
  const isApart = ([file, line]) => places.every((one) => one.file !== file || Math.abs(one.line - line) > 8);
  return [...beside, ...own.filter(isApart)];
}

/** Replaces an empty line with a comment, so that no other line moves. */
function comment(dir, file, line, step) {
  const place = path.join(dir, file);
  const lines = readFileSync(place, 'utf8').split('\n');
  lines[line] = `${file.endsWith('.sql') ? '--' : '//'} ${mark} ${step}`;
  writeFileSync(place, lines.join('\n'));
}

function withoutComments(text) {
  return text
    .split('\n')
    .map((line) => (line.includes(mark) ? '' : line))
    .join('\n');
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

/** Creates a mulberry32 generator: the same numbers for the same seed. */
function generator(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
