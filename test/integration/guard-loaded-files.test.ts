import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { inlineSuite, type InlineSuite } from '../rig/inline-suite.js';

const data = { 'seed/read.json': '1', 'seed/awaited.json': '2', 'seed/never.json': '3' };
let suite: InlineSuite;

async function loaded(files: Record<string, string>): Promise<string[]> {
  suite = await inlineSuite({ ...data, ...files });
  const { run } = await suite.run();
  expect(run.status).toBe('passed');
  const inside = (run.testFiles ?? []).map((file) =>
    path.relative(suite.dir, file).replaceAll(path.sep, '/'),
  );
  return inside.filter((file) => !file.startsWith('..') && !path.isAbsolute(file)).toSorted();
}

afterEach(() => suite.dispose());

it('HN-4 records the files that CommonJS tests load and read', async () => {
  const found = await loaded({
    'package.json': '{ "name": "cjs" }',
    'playwright.config.js': "module.exports = { testDir: 'tests', ...require('./shared/settings') };",
    'shared/settings.js': 'module.exports = { retries: 0 };',
    'lib/total.js': 'exports.total = () => 3;',
    'tests/a.spec.js': `
      const { test, expect } = require('@playwright/test');
      const { readFileSync } = require('node:fs');
      const { readFile } = require('node:fs/promises');
      const { total } = require('../lib/' + 'total');
      test('adds', async () => {
        const two = Number(await readFile('seed/awaited.json', 'utf8'));
        expect(Number(readFileSync('seed/read.json', 'utf8')) + two).toBe(total());
      });`,
  });
  expect(found).toEqual(
    expect.arrayContaining([
      'lib/total.js',
      'playwright.config.js',
      'seed/awaited.json',
      'seed/read.json',
      'shared/settings.js',
      'tests/a.spec.js',
    ]),
  );
  expect(found).not.toContain('seed/never.json');
});

it('HN-4 records the files that tests in ECMAScript modules read', async () => {
  const found = await loaded({
    'playwright.config.ts': "export default { testDir: './tests' };",
    'tests/a.spec.ts': `
      import { test, expect } from '@playwright/test';
      import { readFileSync } from 'node:fs';
      import { readFile } from 'node:fs/promises';
      test('reads', async () => {
        expect(readFileSync('seed/read.json', 'utf8')).toBe('1');
        expect(await readFile(new URL('../seed/awaited.json', import.meta.url), 'utf8')).toBe('2');
      });`,
  });
  expect(found).toEqual(expect.arrayContaining(['seed/awaited.json', 'seed/read.json']));
});

it('HN-4 finds a snapshot where the path template of the config puts it', async () => {
  const found = await loaded({
    'playwright.config.ts':
      "export default { testDir: './tests', snapshotPathTemplate: 'visual/{arg}{ext}' };",
    'visual/total.txt': '12',
    'tests/a.spec.ts': `
      import { test, expect } from '@playwright/test';
      test('reads', () => { expect('12').toMatchSnapshot('total.txt'); });`,
  });
  expect(found).toContain('visual/total.txt');
});
