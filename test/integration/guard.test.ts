import { rmSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { edited, type Edit, suitePaths, project } from '../../fixtures/guard/cases.mjs';
import { createGuard } from '../../src/guard/run-guard.js';
import { judgeChange } from '../../src/guard/judge.js';
import { createFolderSnapshot } from '../../src/workspace/project-files.js';
import type { FileSnapshot } from '../../src/workspace/git-trees.js';
import { writeInto } from '../rig/agent-workspace.js';
import { aResult, aSuiteRun, aTest } from '../rig/builders.js';
import { tempDir } from '../rig/temp-dir.js';

let dir: string;

const put = (files: Readonly<Record<string, string>>) => writeInto(dir, files);

/** The first suite of a run, as Playwright reports it: with absolute paths. */
function firstRun(testFiles: readonly string[] = suitePaths.testFiles, testDir = 'tests') {
  const tests = testFiles.map((file) => {
    const location = { file: path.join(dir, file), line: 1, column: 1 };
    return { ...aResult(file), test: aTest(file, { location }) };
  });
  const rootDir = testFiles.length > 0 ? path.join(dir, testDir) : '';
  return aSuiteRun({ tests, rootDir, configFile: path.join(dir, suitePaths.config) });
}

async function judged(edits: readonly Edit[], first = firstRun()) {
  const before = await recorded();
  const now = edited(edits);
  for (const gone of Object.keys(project).filter((file) => !(file in now))) rmSync(path.join(dir, gone));
  put(now);
  const after = await recorded();
  const all = new Set([...(await before.listPaths()), ...(await after.listPaths())]);
  const [old, fresh] = [await before.readFiles([...all]), await after.readFiles([...all])];
  const changes = [...all]
    .filter((file) => String(old.get(file)) !== String(fresh.get(file)))
    .map((file) => ({ path: file }));
  const { violations, differences, cut } = await createGuard(
    dir,
    first,
    judgeChange,
  )({ category: 'ui-error', tests: 'compared', changes, before, after });
  return [
    ...violations.map(({ rule, file, line }) => ({ rule, file, line })),
    ...differences.map(({ strength, file, line }) => ({ rule: strength, file, line })),
    ...cut.map(({ file }) => ({ rule: 'cut', file, line: null })),
  ];
}

beforeEach(async () => {
  dir = tempDir('größe mit Leerzeichen');
  put(project);
});

/** The files as they are now. */
async function recorded(): Promise<FileSnapshot> {
  const tree = createFolderSnapshot(dir);
  const texts = await tree.readFiles(await tree.listPaths());
  return {
    listPaths: async () => [...texts.keys()],
    readFiles: async (paths) => new Map([...texts].filter(([file]) => paths.includes(file))),
  };
}

it('HN-3 judges deleted, added and binary files', async () => {
  const found = await judged([
    ['tests/search.spec.ts', null],
    ['tests/search.spec.ts-snapshots/results-chromium.png', '\u0000PNG\n\n'],
    ['tests/neu größe.spec.ts', "import { test } from '@playwright/test';\ntest.only('x', () => {});\n"],
  ]);
  expect(new Set(found.map(({ rule, file }) => `${rule} ${file}`))).toEqual(
    new Set([
      'weaker tests/search.spec.ts',
      'cut tests/search.spec.ts-snapshots/results-chromium.png',
      'cut tests/neu größe.spec.ts',
    ]),
  );
});

it('HN-3 recognizes specs by their names if the suite did not start', async () => {
  const edit = ['tests/cart.spec.ts', "toHaveURL('/thanks')", "toHaveURL('/')"] as const;
  expect(await judged([edit], firstRun([]))).toMatchObject([{ rule: 'different' }]);
});

it('HN-3 accepts a fix in the app whose specs lie next to its modules', async () => {
  const spec = `import { test, expect } from '@playwright/experimental-ct-react';
import { total } from './cart';
test('adds up', () => expect(total([2, 3])).toBe(5));
`;
  const story = (text: string) =>
    `import { beforeMount } from '@playwright/experimental-ct-react/hooks';\nbeforeMount(() => ${text});\n`;
  put({ 'src/cart.spec.tsx': spec, 'src/story.ts': story('open()') });
  const first = firstRun(['src/cart.spec.tsx'], 'src');
  expect(await judged([['src/cart.ts', 'price, 1)', 'price, 0)']], first)).toEqual([]);
  put({ 'src/cart.ts': project['src/cart.ts'] ?? '' });
  const cheat = await judged(
    [
      ['src/cart.spec.tsx', spec.replace('5', '6')],
      ['src/story.ts', story("page.route('**', answer)")],
    ],
    first,
  );
  expect(new Set(cheat.map(({ file }) => file))).toEqual(new Set(['src/cart.spec.tsx', 'src/story.ts']));
});

it('HN-3 counts modules in a test folder as test files, even next to specs of the same name', async () => {
  put({ 'tests/cart.ts': 'export const expected = () => 5;\n' });
  const edit = ['tests/cart.ts', 'export const expected = () => 6;\n'] as const;
  expect(await judged([edit], firstRun(['tests/cart.spec.ts']))).toMatchObject([{ file: 'tests/cart.ts' }]);
});
