import { describe, expect, it } from 'vitest';
import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';
import { judged, refusals } from './judged.js';

const file = 'src/orders.ts';
const order = `export async function order(body, user) {
  if (user.isBlocked) return;
  await audit(body);
  const total = sumOf(body.items).toFixed(2);
  return save({ ...body, total, isPaid: false });
}
`;

/** What the reviewer is told of a change of the app, one line each. */
async function notesOf(from: string, to: string, path = file, text = order) {
  const after = text.replace(from, () => to);
  const { violations, notes } = await judge(requestOf([[path, after]], 'runtime-error', [[path, text]]));
  expect(violations).toEqual([]);
  return notes.map(({ line, says }) => `${line} ${says}`);
}

describe('HN-3 what the app did and does no longer', () => {
  it.each([
    ['a guard clause', '  if (user.isBlocked) return;\n', '', 'if (user.isBlocked) return;'],
    ['an awaited call', '  await audit(body);\n', '', 'await audit(body);'],
    ['a call in a chain', '.toFixed(2)', '', 'sumOf(body.items).toFixed(2)'],
    ['a condition', 'user.isBlocked', 'false', 'user.isBlocked'],
    ['a setting that is flipped', 'isPaid: false', 'isPaid: true', 'false'],
    ['a property', ', isPaid: false', '', 'isPaid: false'],
  ])('HN-3 names %s for the reviewer', async (_what, from, to, code) => {
    expect(await notesOf(from, to)).toEqual([expect.stringContaining(`\`${code}\``)]);
  });

  it('HN-3 names a line that is gone from a language that is not parsed', async () => {
    const python = 'def order(body):\n    audit(body)\n    return save(body)\n';
    expect(await notesOf('    audit(body)\n', '', 'app/orders.py', python)).toEqual([
      expect.stringContaining('`audit(body)` was removed'),
    ]);
  });

  it.each([
    ['what was added', '  await audit(body);', '  await audit(body);\n  await mail(user);'],
    [
      'what moved',
      '  if (user.isBlocked) return;\n  await audit(body);',
      '  await audit(body);\n  if (user.isBlocked) return;',
    ],
    ['what does something else now', 'user.isBlocked', 'user.isSuspended'],
  ])('HN-3 says nothing of %s', async (_what, from, to) => {
    expect(await notesOf(from, to)).toEqual([]);
  });
});

describe('HN-3 the compiler', () => {
  it.each([
    ['tsconfig.json', '{ "compilerOptions": { "noUnusedLocals": true } }', '{ "compilerOptions": {} }'],
    ['tsconfig.json', '{ "include": ["src"] }', '{ "include": ["src/a"] }'],
    ['src/a.ts', 'a();\n', '// @ts-expect-error\na();\n'],
    ['app/a.py', 'a()\n', 'a()  # type: ignore\n'],
  ])('HN-3 rejects a %s that checks less', async (path, before, after) => {
    const found = await judged([[path, after]], 'build-error', [[path, before]]);
    expect(refusals(found)).toEqual(['compiler-loosened']);
  });

  it('HN-3 accepts other settings', async () => {
    const [before, after] = [
      '{ "compilerOptions": { "paths": {} } }',
      '{ "compilerOptions": { "paths": { "@/*": ["src/*"] }, "strict": true } }',
    ];
    expect(
      refusals(await judged([['tsconfig.json', after]], 'build-error', [['tsconfig.json', before]])),
    ).toEqual([]);
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

  it('HN-4 rejects a change of an alias through which tests import', async () => {
    const pages = { '@pages/*': ['./tests/pages/*'] };
    expect(await paths(pages, { '@pages/*': ['./src/fake/*'] })).toEqual(['module-shadowed']);
    expect(await paths(pages, {})).toEqual(['module-shadowed']);
    expect(await paths(pages, { ...pages, zod: ['./src/zod.ts'] })).toEqual(['module-shadowed']);
    expect(await paths(pages, { ...pages, '*': ['./src/*'] })).toEqual(['playwright-patched']);
    expect(await paths({ ...pages, '@app/*': ['./a/*'] }, { ...pages, '@app/*': ['./src/*'] })).toEqual([]);
    expect(await paths({}, pages)).toEqual([]);
  });
});
