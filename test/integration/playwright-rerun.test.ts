import { beforeAll, expect, it } from 'vitest';
import type { SuiteRun } from '../../src/playwright/suite-run.js';
import { inlineSuite, type FinishedSuite, type InlineSuite } from '../rig/inline-suite.js';

const config = `
const { defineConfig } = require('@playwright/test');
module.exports = defineConfig({
  snapshotPathTemplate: 'snapshots/{arg}{ext}',
  reporter: [['json', { outputFile: 'report.json' }]],
  fullyParallel: true,
  projects: [
    { name: 'one', testMatch: /odd|group/ },
    { name: 'two', testMatch: /odd/, grep: /number/ },
    { name: 'set up', testMatch: /log-in/, teardown: 'clean up' },
    { name: 'clean up', testMatch: /log-out/ },
    { name: 'three', testMatch: /member/, dependencies: ['set up'] },
  ],
});
`;

const odd = `
const { test, expect } = require('@playwright/test');
for (const n of [1, 2, 3]) test('number ' + n, () => expect(n).toBe(2));
test('two\\nlines', () => expect(1).toBe(2));
test('  two  spaces', () => expect(1).toBe(2));
test('a › b', () => expect(1).toBe(2));
test('a', () => {});
test('a (b)|c.*[d]$ "e" \\\\ f', () => expect(1).toBe(2));
test('of a snapshot', () => expect('text').toMatchSnapshot('text.txt'));
test.describe(() => {
  test.describe.configure({ retries: 1 });
  test('flaky', () => expect(test.info().retry).toBe(1));
});
test.skip('skipped', () => {});
`;

const group = `
const { test, expect } = require('@playwright/test');
test.describe('outer', () => {
  test.describe.configure({ mode: 'serial' });
  let cart = 0;
  test('puts in', () => { cart = 1; });
  test.describe('inner', () => { test('pays', () => expect(cart).toBe(2)); });
  test('ships', () => {});
});
test.describe('with a hook', () => {
  test.describe.configure({ mode: 'default' });
  test.beforeAll(() => { throw new Error('no database'); });
  test('first', () => {});
  test('second', () => {});
});
test('beside them', () => {});
`;

const member = `
const { test, expect } = require('@playwright/test');
test('member', () => expect(1).toBe(2));
test('member too', () => {});
`;
const logIn = (ok: boolean): string =>
  `require('@playwright/test').test('logs in', () => { if (!${ok}) throw new Error('no such user'); });`;
const logOut = `require('@playwright/test').test('logs out', () => { throw new Error('no way out'); });`;

let suite: InlineSuite;
let first: FinishedSuite;
let filesAfterFirst: Record<string, string>;

beforeAll(async () => {
  suite = await inlineSuite({
    'package.json': '{ "name": "inline" }',
    'playwright.config.js': config,
    'odd.spec.js': odd,
    'group.spec.js': group,
    'log-in.spec.js': logIn(false),
    'log-out.spec.js': logOut,
    'member.spec.js': member,
  });
  first = await suite.run();
  filesAfterFirst = await suite.files();
}, 120_000);

/** `project: title` of each test with one of these outcomes, or of all tests. */
function named(run: SuiteRun, ...outcomes: string[]): string[] {
  return run.tests
    .filter((one) => outcomes.length === 0 || outcomes.includes(one.outcome))
    .map(({ test }) => `${test.project}: ${test.titlePath.at(-1)}`)
    .sort();
}

function idOf(title: string): string {
  const found = first.run.failures.find(({ test }) => `${test.project}: ${test.titlePath.at(-1)}` === title);
  if (!found) throw new Error(`${title} is not among ${named(first.run, 'unexpected').join(', ')}`);
  return found.test.id;
}

function idsFor(title: string): readonly string[] {
  return first.run.rerunIds[idOf(title)] ?? [];
}

const oddTitles = [
  'number 1',
  'number 3',
  'two\nlines',
  '  two  spaces',
  'a › b',
  'a (b)|c.*[d]$ "e" \\ f',
  'of a snapshot',
];

it('CL-3 reports the outcome of each test of a run', () => {
  expect(first.run.status).toBe('failed');
  expect(named(first.run, 'unexpected')).toEqual(
    [
      ...oddTitles.map((title) => `one: ${title}`),
      'two: number 1',
      'two: number 3',
      'clean up: logs out',
      'one: first',
      'one: pays',
      'set up: logs in',
    ].sort(),
  );
  expect(named(first.run, 'flaky')).toEqual(['one: flaky']);
  expect(named(first.run, 'skipped')).toEqual(['one: skipped']);
  expect(named(first.run, 'not-run')).toEqual([
    'one: second',
    'one: ships',
    'three: member',
    'three: member too',
  ]);
});

it('HL-1 re-runs only failed tests, but whole serial groups, also after a failed hook', async () => {
  const ids = oddTitles.flatMap((title) => idsFor(`one: ${title}`));
  expect(ids).toHaveLength(oddTitles.length);
  // Playwright starts another worker after each red test.
  suite.write({ 'odd.spec.js': odd.replaceAll('.toBe(2)', '.toBeDefined()') });
  const { run, terminal } = await suite.rerun([...ids, ...idsFor('one: pays'), ...idsFor('one: first')]);
  suite.write({ 'odd.spec.js': odd });
  const fixed = oddTitles.map((title) => `one: ${title}`);
  const others = ['first', 'pays', 'puts in', 'second', 'ships'].map((title) => `one: ${title}`);
  expect(named(run)).toEqual([...fixed, ...others].sort());
  expect(named(run, 'unexpected')).toEqual(['one: first', 'one: of a snapshot', 'one: pays']);
  expect(terminal).toBe('');
});

it('HL-1 re-runs a setup test with its dependents, and a teardown with the fewest tests that trigger it', async () => {
  expect(idsFor('set up: logs in')).toHaveLength(3);
  suite.write({ 'log-in.spec.js': logIn(true) });
  const { run } = await suite.rerun(idsFor('set up: logs in'));
  suite.write({ 'log-in.spec.js': logIn(false) });
  expect(named(run, 'expected')).toEqual(['set up: logs in', 'three: member too']);
  expect(named(run, 'unexpected')).toEqual(['clean up: logs out', 'three: member']);
  const again = await suite.rerun(idsFor('clean up: logs out'));
  expect(named(again.run, 'unexpected')).toContain('clean up: logs out');
});

it('HL-10 distinguishes a test that vanished from one that is fixed', async () => {
  const ids = [...idsFor('one: a › b'), ...idsFor('one: number 1')];
  suite.write({ 'odd.spec.js': odd.replace("'a › b'", "'renamed'") });
  const { run } = await suite.rerun(ids);
  const known = new Set(run.tests.map(({ test }) => test.id));
  expect(ids.filter((id) => !known.has(id))).toEqual(idsFor('one: a › b'));
  const none = await suite.rerun(idsFor('one: a › b'));
  suite.write({ 'odd.spec.js': odd });
  expect(none.run).toMatchObject({ tests: [], suiteFailure: null });
});

it('CL-1 keeps repetitions of a test apart, and never shards a re-run', async () => {
  const selection = { repeatEach: 3, project: ['one'], filters: ['odd'], grep: 'number 1', shard: '1/2' };
  const repeated = await suite.run(selection);
  const last = repeated.run.failures.at(-1)?.test.id ?? '';
  expect(repeated.run.failures).toHaveLength(2);
  const { run } = await suite.rerun([last], selection);
  expect(run.tests.map(({ test }) => test.id)).toEqual([last]);
});

it('CL-1 CL-3 CL-4 a re-run changes no file of the user, neither snapshot nor report', async () => {
  suite.write({ 'report.json': filesAfterFirst['report.json'] ?? '' });
  const before = await suite.files();
  const { run } = await suite.rerun(null, { project: ['one'], grep: 'snapshot|number' });
  expect(run.tests).toHaveLength(4);
  expect(await suite.files()).toEqual(before);
  expect(Object.keys(before).filter((file) => file.startsWith('snapshots'))).toEqual([]);
});
