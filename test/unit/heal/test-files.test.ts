import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { listTestFiles, TestFiles } from '../../../src/heal/test-files.js';
import { aResult, aTestFailure } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

const files = ['tests/buy.spec.ts', 'tests/sell.spec.ts', 'tests/shop-page.ts', 'playwright.config.ts'];
const suitePaths = {
  testFiles: files.slice(0, 2),
  testDir: 'tests',
  config: 'playwright.config.ts',
  titles: [],
};

/** A suite in which the test of buy.spec.ts has just been red. */
async function suite(edited: ReadonlySet<string> = new Set()) {
  const root = tempDir();
  mkdirSync(path.join(root, 'tests'));
  const write = (file: string, text: string) => writeFileSync(path.join(root, file), text);
  for (const file of files) write(file, 'before\n');
  const test = {
    ...aResult('t1', 'unexpected').test,
    location: { file: path.join(root, 'tests/buy.spec.ts'), line: 1, column: 1 },
  };
  const watched = await listTestFiles(root, suitePaths);
  const testFiles = new TestFiles(root, {
    suitePaths,
    files: watched,
    workspace: { listEditedFiles: () => edited },
  });
  const run = (outcome: 'expected' | 'unexpected') =>
    testFiles.observe({ tests: [{ ...aResult('t1', outcome), test }] });
  run('unexpected');
  return { write, run, edits: () => testFiles.listEditsToTest(aTestFailure({ test })) };
}

it.each([
  ['its own file', 'tests/buy.spec.ts', ['tests/buy.spec.ts']],
  ['a file that tests share', 'tests/shop-page.ts', ['tests/shop-page.ts']],
  ['the config', 'playwright.config.ts', ['playwright.config.ts']],
  ['another spec', 'tests/sell.spec.ts', []],
])('HN-3 a test that is green after an edit of %s was edited for: %s', async (_, file, expected) => {
  const { write, run, edits } = await suite();
  write(file, 'somebody was here\n');
  run('expected');
  expect(edits()).toEqual(expected);
});

it('HN-3 an edit before the last red run does not explain a green test', async () => {
  const { write, run, edits } = await suite();
  write('tests/buy.spec.ts', 'somebody was here\n');
  run('unexpected');
  run('expected');
  expect(edits()).toEqual([]);
});

it('HN-3 a fix of the run does not count as somebody’s edit', async () => {
  const { write, run, edits } = await suite(new Set(['tests/buy.spec.ts']));
  write('tests/buy.spec.ts', 'a fix was here\n');
  run('expected');
  expect(edits()).toEqual([]);
});

it('HN-3 a file that a run or a test writes beside the tests does not count as an edit', async () => {
  const root = tempDir();
  for (const file of ['tests/buy.spec.ts', 'tests/.self-heal/ledger.db', 'tests/test-results/last.json']) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), '');
  }
  const watched = await listTestFiles(root, {
    ...suitePaths,
    testFiles: ['tests/buy.spec.ts'],
    config: null,
  });
  expect(watched).toEqual(['tests/buy.spec.ts']);
});
