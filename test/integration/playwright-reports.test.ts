import { beforeAll, expect, it } from 'vitest';
import { readReports } from '../../src/playwright/reports/read-reports.js';
import { createTestKey } from '../../src/playwright/reports/report.js';
import type { SuiteRun } from '../../src/playwright/suite-run.js';
import { inlineSuite, type InlineSuite } from '../rig/inline-suite.js';

const config = `
const { defineConfig } = require('@playwright/test');
module.exports = defineConfig({
  testDir: 'tests',
  reporter: [
    ['blob', { outputDir: 'reports/blob' }],
    ['json', { outputFile: 'reports/json/report.json' }],
  ],
  projects: [
    { name: 'one' },
    { name: 'two', testMatch: /odd/, grep: /spaces|flaky/ },
    { name: 'set up', testMatch: /log-in/ },
    { name: 'three', testMatch: /odd/, dependencies: ['set up'] },
  ],
});
`;

const odd = `
const { test, expect } = require('@playwright/test');
test('  two  spaces', () => expect(1).toBe(2));
test('a › b', () => expect(1).toBe(2));
test('a (b)|c.*[d]$ "e" \\\\ f & <g>', () => expect(1).toBe(2));
test.describe(() => test('in a group without a name', () => expect(1).toBe(2)));
test.describe('group', () => {
  test.describe.configure({ retries: 1 });
  test('flaky', () => expect(test.info().retry).toBe(1));
});
test('green', () => {});
test('fails as expected', () => { test.fail(); expect(1).toBe(2); });
test('passes although it is expected to fail', () => { test.fail(); });
test.skip('skipped', () => {});
test('skips itself', () => { test.skip(true, 'why not'); });
test.fixme('to be fixed', () => {});
`;

const serial = `
const { test, expect } = require('@playwright/test');
test.describe.configure({ mode: 'serial' });
test('first', () => expect(1).toBe(2));
test('second', () => {});
`;

let suite: InlineSuite;
let run: SuiteRun;
beforeAll(async () => {
  suite = await inlineSuite({
    'package.json': '{ "name": "inline" }',
    'playwright.config.js': config,
    'tests/sub/odd.spec.js': odd,
    'tests/serial.spec.js': serial,
    'tests/log-in.spec.js': `require('@playwright/test').test('log in', () => { throw new Error('no'); });`,
  });
  ({ run } = await suite.run());
});

it.each(['blob', 'json'])('SC-1 reads from a real %s report how each test ended', async (kind) => {
  const read = await readReports([`reports/${kind}`], suite.dir);
  const reported = read.ok ? read.value.flatMap(({ tests }) => tests) : [];
  expect(run.tests).toHaveLength(2 + 2 * 11 + 2 + 2);
  expect(Object.fromEntries(reported.map(({ key, outcome }) => [key, outcome]))).toEqual(
    Object.fromEntries(
      run.tests.map(({ test, outcome }) => [createTestKey(test.project, test.titlePath), outcome]),
    ),
  );
  expect(reported.find(({ key }) => key.endsWith('green'))?.durationMs).toBeGreaterThanOrEqual(0);
});
