import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import type { Category } from '../../../src/model/diagnosis.js';
import { judgeChange } from '../../../src/guard/judge.js';
import { findSuitePaths } from '../../../src/guard/run-guard.js';
import { readTestCode } from '../../../src/guard/test-code.js';
import { createTestPathPredicate } from '../../../src/guard/test-paths.js';
import { createFolderSnapshot } from '../../../src/workspace/project-files.js';
import { aResult, aSuiteRun, aTest } from '../../rig/builders.js';
import { ordinaryFiles, protectedFiles } from '../../rig/protected-files.js';
import { tempDir } from '../../rig/temp-dir.js';
import { judged, leftOut, refusals } from './judged.js';

const app: Edit = ['src/cart.ts', 'price, 1)', 'price, 0)'];
const spec = 'tests/search.spec.ts';

describe('HN-4 edits to the tests are removed from a patch', () => {
  it.each(['build-error', 'runtime-error', 'network-error', 'unknown'] as const)(
    'HN-4 for a %s, and the rest of the patch is tried',
    async (category) => {
      const findings = await judged(
        [app, [spec, 'toHaveCount(3)', 'toHaveCount(2)'], ['tests/new.spec.ts', '']],
        category,
      );
      expect(leftOut(findings)).toEqual([spec, 'tests/new.spec.ts']);
      expect(refusals(findings)).toEqual(['different']);
    },
  );

  it.each(protectedFiles)('HN-4 removes for every class: %s', async (file) => {
    expect(leftOut(await judged([app, [file, 'x']], 'runtime-error'))).toEqual([file]);
  });

  it('HN-4 removes the config with its imports, setups and reporters, but not the app they start', async () => {
    const given: Edit[] = [
      [
        'playwright.config.ts',
        "import { retries } from './shared/settings';\nexport default { testDir: './tests', retries, globalSetup: require.resolve('./setup/global'), reporter: [['./report.ts']] };",
      ],
      ['shared/settings.ts', "export { retries } from './more';"],
      ['shared/more.ts', 'export const retries = 0;'],
      ['setup/global.ts', "import './seed'; import { start } from '../src/server'; export default start;"],
      ['setup/seed.ts', "import '@playwright/test';"],
      ['src/server.ts', 'export const start = () => 1;'],
      ['report.ts', 'export default class {}'],
    ];
    const own = ['shared/settings.ts', 'shared/more.ts', 'setup/global.ts', 'setup/seed.ts', 'report.ts'];
    const edits = [...own, 'src/server.ts'].map((file): Edit => [file, 'export const x = 5;']);
    expect(leftOut(await judged(edits, 'ui-error', given))).toEqual(own);
  });

  it('HN-4 keeps a file of the app that only looks like a protected one', async () => {
    const edits = ordinaryFiles.map((file): Edit => [file, 'x']);
    expect(leftOut(await judged(edits, 'runtime-error'))).toEqual([]);
  });

  it.each([
    ['test data', 'tests/data/orders.json', '{}'],
    ['a snapshot', 'tests/search.spec.ts-snapshots/results-chromium.png', 'PNG2'],
    ['a lock file alone', 'package-lock.json', '{ "a": 1 }'],
    ['a new spec', 'tests/new.spec.ts', "import { test } from '@playwright/test';\n"],
    ['a module beside one of the tests', 'tests/pages/cart-page.js', 'export class CartPage {}'],
  ])('HN-4 for a ui-error: %s', async (_what, file, text) => {
    const findings = await judged([app, [file, text]], 'ui-error');
    expect(leftOut(findings)).toEqual([file]);
    expect(refusals(findings)).toEqual([]);
  });

  it('HN-4 removes an invented value in an environment file, unless the file is a sample', async () => {
    const files: Edit[] = [
      ['.env', 'PORT=4000\n'],
      ['web/.env.example', 'SESSION_KEY=for-tests\n'],
    ];
    const cut = async (text: string) => (await judged([['.env', text]], 'runtime-error', files)).cut;
    expect(await cut('PORT=4000\nSESSION_KEY=for-tests\n')).toEqual([]);
    expect(await cut('PORT=4000\nSESSION_KEY=secret\nMAIL_KEY=x\n')).toEqual([
      { file: '.env', why: 'only a person knows the value of SESSION_KEY, MAIL_KEY' },
    ]);
    expect(await cut('PORT=5000\n')).toMatchObject([{ file: '.env' }]);
  });

  it('HN-4 removes a link, and a change in another repository', async () => {
    const request = requestOf([app], 'runtime-error');
    const changes = [...request.changes, { path: 'a', kind: 'link' }, { path: 'b', kind: 'other' }] as const;
    expect(leftOut(await judgeChange({ ...request, changes }))).toEqual(['a', 'b']);
  });

  it('HN-4 removes a snapshot that a run found missing, wherever the config puts it', async () => {
    const request = requestOf([['visual/total.txt', '12']], 'ui-error');
    const errors = (file: string) => [`Error: A snapshot doesn't exist at /shop/${file}, writing actual.\n`];
    expect(leftOut(await judgeChange({ ...request, errors: errors('visual/total.txt') }))).toEqual([
      'visual/total.txt',
    ]);
    expect(leftOut(await judgeChange({ ...request, errors: errors('visual/sum.txt') }))).toEqual([]);
  });
});

describe('HN-4 package.json', () => {
  const changed = async (from: string, to: string, ...more: Edit[]) => {
    return leftOut(await judged([['package.json', from, to], ...more], 'build-error'));
  };

  it.each([
    ['a script', '"build":"vite build"', '"build":"true"'],
    ['a life-cycle script', '"build":"vite build"', '"build":"vite build","postinstall":"node x.js"'],
    ['an override of Playwright', '"scripts"', '"overrides":{"playwright":"file:./x"},"scripts"'],
    ['another Playwright', '^1.50.0', 'file:./fake'],
    ['a command for a git hook', '"scripts"', '"simple-git-hooks":{"pre-commit":"sh x"},"scripts"'],
    ['a command for another tool', '"scripts"', '"wireit":{"build":{"command":"sh x"}},"scripts"'],
  ])('HN-4 is not accepted with %s', async (_what, from, to) => {
    expect(await changed(from, to)).toEqual(['package.json']);
  });

  it('HN-4 is accepted only together with its dependencies and the lock file', async () => {
    const [from, to] = ['"zod":"^4.0.0"', '"zod":"^4.0.0","ms":"^2.1.3"'];
    const lock: Edit = ['package-lock.json', '{ "ms": "2.1.3" }'];
    expect(await changed(from, to, lock)).toEqual([]);
    const script: Edit = ['package.json', '"build":"vite build"', '"prepare":"sh x","build":"vite build"'];
    expect(await changed(from, to, script, lock)).toEqual(['package.json', 'package-lock.json']);
  });
});

describe('HN-4 data that the tests name', () => {
  const rooms = 'src/content/rooms.json';
  const findingsIn = async (
    file: string,
    code: Edit,
    category: Category = 'ui-error',
    edits: readonly Edit[] = [],
  ) => {
    const reads: Edit = ['tests/reads.spec.ts', `test('reads', () => read('${file}'));`];
    const before: readonly Edit[] = [[file, '{ "rooms": 3 }'], code, reads];
    const request = requestOf([[file, '{ "rooms": 4 }'], ...edits], category, before);
    const testFiles = [...request.suite.testFiles, reads[0]];
    return judgeChange({ ...request, suite: { ...request.suite, testFiles } });
  };

  it.each([
    ['an import', 'src/rooms.ts', "import rooms from './content/rooms.json';"],
    ['a server that reads it', 'server.mjs', "app.get('/', () => readFileSync('src/content/rooms.json'));"],
    ['a glob in its folder', 'src/all.ts', "export const all = import.meta.glob('./content/*.json');"],
  ])('HN-4 belongs to the app if its code names it: %s', async (_, ...code) => {
    for (const category of ['ui-error', 'runtime-error'] as const) {
      expect(leftOut(await findingsIn(rooms, code, category))).toEqual([]);
    }
  });

  it.each([
    ['no code of the app names it', rooms, 'src/rooms.ts', "export const content = 'rooms';"],
    ['only tests name it', rooms, 'src/rooms.spec.ts', "import rooms from './content/rooms.json';"],
    [
      'only a helper names it',
      rooms,
      'shared/rooms.ts',
      "import '@playwright/test';\nimport '../src/content/rooms.json';",
    ],
    ['it is among the tests', 'tests/data/rooms.json', 'src/rooms.ts', "import '../tests/data/rooms.json';"],
  ])('HN-4 belongs to the tests: %s', async (_, file, ...code) => {
    expect(leftOut(await findingsIn(file, code))).toEqual([file]);
  });
});

const suitePaths = {
  testFiles: ['tests/cart.spec.ts'],
  testDir: 'tests',
  config: 'playwright.config.ts',
  titles: [],
};

it('HN-4 a page in a test folder belongs to the app unless a test names it; other files never do', () => {
  const loaded = ['tests/cart.spec.ts', 'tests/pages/read.html'];
  const isTests = createTestPathPredicate({ ...suitePaths, loaded });
  const own = ['tests/pages/cart.html', 'tests/pages/cart.css'];
  const theirs = [
    'tests/cart.spec.ts',
    'tests/support/cart.ts',
    'tests/data/cart.json',
    'tests/pages/read.html',
    'tests/cart.spec.ts-snapshots/cart.svg',
    'playwright.config.ts',
  ];
  expect([own.filter(isTests), theirs.filter((file) => !isTests(file))]).toEqual([[], []]);
});

it('HN-4 a test’s folder belongs to the tests even if Playwright’s test directory is above the project', () => {
  const location = { file: '/projects/shop/e2e/cart.spec.ts', line: 1, column: 1 };
  const tests = [{ ...aResult('t1'), test: aTest('t1', { location }) }];
  const suite = aSuiteRun({ tests, rootDir: '/projects' });
  const isTests = createTestPathPredicate(findSuitePaths('/projects/shop', suite, () => false));
  expect(['e2e/support/cart.ts', 'src/cart.ts'].map(isTests)).toEqual([true, false]);
});

async function reached(files: Readonly<Record<string, string>>): Promise<string[]> {
  const root = tempDir();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return [...(await readTestCode(createFolderSnapshot(root), suitePaths, { edits: [] })).reached].toSorted();
}

it('HN-4 follows imports of specs and config, and the modules, setups and data they name', async () => {
  const files = {
    'playwright.config.ts':
      "import { retries } from './shared/settings';\nexport default { retries, globalSetup: './setup/global' };",
    'shared/settings.ts': 'export const retries = 0;',
    'setup/global.ts': "import { seed } from '../lib/seed.js';\nexport default seed;",
    'lib/seed.ts': "export const seed = () => readFileSync('seed/read.json');",
    'tests/a.spec.ts':
      "import { pay } from './pages/pay';\nreadFile(new URL('../seed/url.json', import.meta.url)); expect(1).toMatchSnapshot('total.txt');",
    'tests/pages/pay.ts': "export const pay = join(__dirname, 'fixtures', 'users.csv');",
    'seed/read.json': '1',
    'seed/url.json': '2',
    'visual/total.txt': '12',
    'tests/pages/fixtures/users.csv': 'ann',
  };
  const other = { 'src/app.ts': "import './other.json';", 'src/other.json': '{}', 'seed/never.json': '3' };
  expect(await reached({ ...files, ...other })).toEqual(Object.keys(files).toSorted());
});
