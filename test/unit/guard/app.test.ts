import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import { runGuard } from '../../../src/guard/run-guard.js';
import { tempDir } from '../../rig/temp-dir.js';
import { judged, refusals } from './judged.js';

describe('HN-3 the compiler', () => {
  it.each([
    ['tsconfig.json', '{ "compilerOptions": { "noUnusedLocals": true } }', '{ "compilerOptions": {} }'],
    ['src/a.ts', 'a();\n', '// @ts-expect-error\na();\n'],
    ['app/a.py', 'a()\n', 'a()  # type: ignore\n'],
  ])('HN-3 rejects a %s that checks less', async (path, before, after) => {
    const found = await judged([[path, after]], 'build-error', [[path, before]]);
    expect(refusals(found)).toEqual(['compiler-loosened']);
  });

  const paths = async (before: object, after: object) => {
    const settings = (own: object) => JSON.stringify({ compilerOptions: { paths: own } });
    const imported: Edit = [
      'tests/a.spec.ts',
      "import { CartPage } from '@pages/cart-page';\nimport { z } from 'zod';\n",
    ];
    const edit = (own: object): Edit => ['tsconfig.json', settings(own)];
    return refusals(await judged([edit(after)], 'build-error', [imported, edit(before)]));
  };

  it('HN-4 rejects a change to an alias through which tests import', async () => {
    const pages = { '@pages/*': ['./tests/pages/*'] };
    expect(await paths(pages, { '@pages/*': ['./src/fake/*'] })).toEqual(['module-shadowed']);
    expect(await paths(pages, {})).toEqual(['module-shadowed']);
    expect(await paths(pages, { ...pages, zod: ['./src/zod.ts'] })).toEqual(['module-shadowed']);
    expect(await paths(pages, { ...pages, '*': ['./src/*'] })).toEqual(['playwright-patched']);
    expect(await paths({ ...pages, '@app/*': ['./a/*'] }, { ...pages, '@app/*': ['./src/*'] })).toEqual([]);
    expect(await paths({}, pages)).toEqual([]);
  });
});

it('HN-3 names a line that detects tests in two ways once', async () => {
  const code = "if (process.env.NODE_ENV === 'test' || process.env.PLAYWRIGHT_TEST) skip();\n";
  expect(refusals(await judged([['src/a.ts', code]], 'ui-error'))).toEqual(['app-detects-tests']);
});

it('HN-3 lets a document mention how tests are detected', async () => {
  const text = 'Set `process.env.NODE_ENV === "test"` or PLAYWRIGHT_TEST.\n';
  expect(refusals(await judged([['docs/testing.md', text]], 'ui-error'))).toEqual([]);
  expect(refusals(await judged([['docs/testing.mdx', text]], 'ui-error'))).toEqual(['app-detects-tests']);
});

const request = requestOf([['tests/search.spec.ts', 'toHaveCount(3)', 'toHaveCount(2)']], 'ui-error');

/** What the guard reports if its process runs this program; a busy machine may take long to start it. */
async function judgedBy(program: string, clockMs = 60_000) {
  const entry = path.join(tempDir(), 'guard.mjs');
  writeFileSync(entry, program);
  const { violations } = await runGuard(request, { entry, clockMs });
  return violations.map(({ rule, says }) => `${rule}: ${says}`);
}

const tooLong = (seconds: number) =>
  `cannot-be-judged: it is unclear what the tests check now (reading it took more than ${seconds} s of processor time)`;

it('HN-3 rejects a change that takes too long to judge, and says so', async () => {
  expect(await judgedBy("process.on('message', () => { for (;;); });", 100)).toEqual([tooLong(5)]);
});

it('HN-3 HN-4 limits processor time, not real time, so that a busy machine rejects nothing', async () => {
  const source = readFileSync(new URL('../../../src/guard/limit-processor-time.ts', import.meta.url), 'utf8');
  const limit = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ES2022 } }).outputText;
  const idle = `${limit}; process.on('message', () => { limitProcessorTime(500); setTimeout(() => process.exit(9), 1000); });`;
  expect(await judgedBy(idle)).toEqual([expect.stringContaining('exit code 9')]);
  const busy = `${limit}; process.on('message', () => { limitProcessorTime(500); for (;;); });`;
  expect(await judgedBy(busy)).toEqual([tooLong(5)]);
});

it('HN-3 rejects a change that crashes the guard’s process or makes it fail', async () => {
  const [crashed] = await judgedBy("process.on('message', () => process.kill(process.pid, 'SIGSEGV'));");
  expect(crashed).toContain('cannot-be-judged');
  expect(crashed).toContain('SIGSEGV');
  const fails = "process.on('message', () => process.send({ type: 'failed', says: 'the guard failed: x' }));";
  expect(await judgedBy(fails)).toEqual([expect.stringContaining('the guard failed: x')]);
});

it('HN-3 rejects a change if a file that the guard’s process requests cannot be read', async () => {
  const broken = { ...request.before, readFiles: () => Promise.reject(new Error('disk gone')) };
  const entry = path.join(tempDir(), 'guard.mjs');
  writeFileSync(
    entry,
    "process.on('message', () => process.send({ type: 'read', id: 1, tree: 'before', paths: ['a'] }));",
  );
  const { violations } = await runGuard({ ...request, before: broken }, { entry });
  expect(violations).toMatchObject([
    { rule: 'cannot-be-judged', says: expect.stringContaining('disk gone') },
  ]);
});
