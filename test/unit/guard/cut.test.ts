import { describe, expect, it } from 'vitest';
import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import type { Category } from '../../../src/core/diagnosis.js';
import { judge } from '../../../src/guard/judge.js';
import { judged, leftOut, refusals } from './judged.js';

const app: Edit = ['src/cart.ts', 'price, 1)', 'price, 0)'];
const spec = 'tests/search.spec.ts';

describe('HN-4 what belongs to the tests does not enter', () => {
  it.each(['build-error', 'database-error', 'runtime-error', 'network-error', 'unknown'] as const)(
    'HN-4 for a %s, and the rest is tried',
    async (category) => {
      const findings = await judged(
        [app, [spec, 'toHaveCount(3)', 'toHaveCount(2)'], ['tests/new.spec.ts', '']],
        category,
      );
      expect(leftOut(findings)).toEqual([spec, 'tests/new.spec.ts']);
      expect(refusals(findings)).toEqual([]);
    },
  );

  it.each([
    ['test data', 'tests/data/orders.json', '{}'],
    ['a snapshot', 'tests/search.spec.ts-snapshots/results-chromium.png', 'PNG2'],
    ['an aria snapshot', 'src/cart.aria.yml', '- list'],
    ['the config', 'playwright.config.ts', 'export default {};'],
    ['a config beside it', 'playwright-ct.config.ts', 'export default {};'],
    ['a CI file', '.github/workflows/e2e.yml', 'on: []'],
    ['agents.yaml', 'agents.yaml', 'version: 1\nverify: { level: none }\n'],
    ['a lock file alone', 'package-lock.json', '{ "a": 1 }'],
    ['a hook of git', '.husky/pre-push', 'exit 0'],
    ['attributes of git', '.gitattributes', '* -text'],
    ['settings of an install', 'packages/a/.npmrc', 'script-shell=./x'],
    ['a script of pnpm', '.pnpmfile.cjs', ''],
    ['packages of the workspace', 'pnpm-workspace.yaml', 'packages: [x]'],
    ['a plugin of Yarn', '.yarn/plugins/x.cjs', ''],
    ['Yarn itself', 'packages/a/.yarn/releases/yarn-4.cjs', ''],
    ['a module that Bun preloads', 'bunfig.toml', 'preload = ["./x.ts"]'],
    ['a native build', 'packages/a/binding.gyp', '{}'],
    ['a patch of Playwright', 'patches/playwright+1.50.0.patch', ''],
    ['a new spec', 'tests/new.spec.ts', "import { test } from '@playwright/test';\n"],
    ['a spec that cannot be parsed', spec, 'test('],
    ['a module beside one of the tests', 'tests/pages/cart-page.js', 'export class CartPage {}'],
  ])('HN-4 for a ui-error: %s', async (_what, file, text) => {
    const findings = await judged([app, [file, text]], 'ui-error');
    expect(leftOut(findings)).toEqual([file]);
    expect(refusals(findings)).toEqual([]);
  });

  it('HN-4 a value of a variable that no file of variables has for it; a sample of one is meant for everybody', async () => {
    const files: Edit[] = [
      ['.env', 'PORT=4000\n'],
      ['web/.env.example', 'SESSION_KEY=for-tests\n'],
    ];
    const cut = async (text: string) => (await judged([['.env', text]], 'runtime-error', files)).cut;
    expect(await cut('PORT=4000\nSESSION_KEY=for-tests\n')).toEqual([]);
    expect(await cut('PORT=4000\nSESSION_KEY=secret\nMAIL_KEY=x\n')).toEqual([
      { file: '.env', why: 'only a person can say the value of SESSION_KEY, MAIL_KEY' },
    ]);
    expect(await cut('PORT=5000\n')).toMatchObject([{ file: '.env' }]);
  });

  it('HN-4 a link and another repository', async () => {
    const request = requestOf([app], 'runtime-error');
    const changes = [...request.changes, { path: 'a', kind: 'link' }, { path: 'b', kind: 'other' }] as const;
    expect(leftOut(await judge({ ...request, changes }))).toEqual(['a', 'b']);
  });

  it('HN-4 a snapshot that a run missed, wherever the config puts it', async () => {
    const request = requestOf([['visual/total.txt', '12']], 'ui-error');
    const errors = (file: string) => [`Error: A snapshot doesn't exist at /shop/${file}, writing actual.\n`];
    expect(leftOut(await judge({ ...request, errors: errors('visual/total.txt') }))).toEqual([
      'visual/total.txt',
    ]);
    expect(leftOut(await judge({ ...request, errors: errors('visual/sum.txt') }))).toEqual([]);
  });
});

describe('HN-4 package.json', () => {
  const changed = async (from: string, to: string, ...more: Edit[]) => {
    return leftOut(await judged([['package.json', from, to], ...more], 'build-error'));
  };

  it.each([
    ['a script', '"build":"vite build"', '"build":"true"'],
    ['a life-cycle script', '"build":"vite build"', '"build":"vite build","postinstall":"node x.js"'],
    ['packages of the workspace', '"scripts"', '"workspaces":["x"],"scripts"'],
    ['a program', '"scripts"', '"bin":{"ls":"./ls.js"},"scripts"'],
    ['a package whose scripts Bun runs', '"scripts"', '"trustedDependencies":["x"],"scripts"'],
    ['the package manager', '"scripts"', '"packageManager":"npm@1.0.0","scripts"'],
    ['an override of Playwright', '"scripts"', '"overrides":{"playwright":"file:./x"},"scripts"'],
    ['another Playwright', '^1.50.0', 'file:./fake'],
  ])('HN-4 does not enter with %s', async (_what, from, to) => {
    expect(await changed(from, to)).toEqual(['package.json']);
  });

  it('HN-4 enters with its dependencies and the lock file, and neither does without the other', async () => {
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
    return judge({ ...request, suite: { ...request.suite, testFiles } });
  };

  it.each([
    ['an import', 'src/rooms.ts', "import rooms from './content/rooms.json';"],
    ['a server that reads it', 'server.mjs', "app.get('/', () => readFileSync('src/content/rooms.json'));"],
    ['a glob in its folder', 'src/all.ts', "export const all = import.meta.glob('./content/*.json');"],
    ['a dynamic import', 'src/one.ts', 'export const one = (id) => import(`./content/${id}.json`);'],
  ])('HN-4 is the app’s if its code names it, and is named for the reviewer: %s', async (_, ...code) => {
    for (const category of ['ui-error', 'runtime-error'] as const) {
      const findings = await findingsIn(rooms, code, category);
      expect([leftOut(findings), findings.notes.map(({ file }) => file)]).toEqual([[], [rooms]]);
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
  ])('HN-4 is the tests’: %s', async (_, file, ...code) => {
    expect(leftOut(await findingsIn(file, code))).toEqual([file]);
  });

  it('HN-4 does not become the app’s because a change makes the app read it', async () => {
    const edits: readonly Edit[] = [['src/new.ts', "import rooms from './content/rooms.json';"]];
    expect(leftOut(await findingsIn(rooms, ['src/old.ts', 'export {};'], 'ui-error', edits))).toEqual([
      rooms,
    ]);
  });
});
