import { expect, it } from 'vitest';
import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';
import { judged } from './judged.js';

const settings = (paths: object) => `${JSON.stringify({ compilerOptions: { paths } })}\n`;
const imported: Edit = [
  'tests/aliased.spec.ts',
  "import { test } from '@playwright/test';\nimport { CartPage } from '@pages/cart-page';\nimport { z } from 'zod';\ntest('x', async ({ page }) => { z.string().parse(await new CartPage(page).row('x').textContent()); });\n",
];
const aliases = async (before: object, after: object) => {
  const found = await judged([['tsconfig.json', settings(after)]], 'build-error', [
    imported,
    ['tsconfig.json', settings(before)],
  ]);
  return found.map(({ rule }) => rule);
};

it('HN-4 rejects a change of an alias through which tests import', async () => {
  const pages = { '@pages/*': ['./tests/pages/*'] };
  expect(await aliases(pages, { '@pages/*': ['./src/fake/*'] })).toEqual(['module-shadowed']);
  expect(await aliases(pages, {})).toEqual(['module-shadowed']);
  expect(await aliases(pages, { ...pages, zod: ['./src/zod.ts'] })).toEqual(['module-shadowed']);
  expect(await aliases(pages, { ...pages, '*': ['./src/*'] })).toEqual(['playwright-patched']);
});

it('HN-4 accepts a fixed alias of the app, or a new one for an unresolved import', async () => {
  const pages = { '@pages/*': ['./tests/pages/*'] };
  expect(await aliases({ ...pages, '@app/*': ['./source/*'] }, { ...pages, '@app/*': ['./src/*'] })).toEqual(
    [],
  );
  expect(await aliases({}, pages)).toEqual([]);
});

it('HN-4 rejects writing a snapshot that a run missed, wherever the config puts it', async () => {
  const request = requestOf([['visual/cart/total.txt', '12']], 'ui-error');
  const pages = (file: string) => [
    { ariaSnapshot: null, errors: [`Error: A snapshot doesn't exist at /shop/${file}, writing actual.\n`] },
  ];
  const rules = async (file: string) =>
    (await judge({ ...request, pages: pages(file) })).violations.map(({ rule }) => rule);
  expect(await rules('visual/cart/total.txt')).toEqual(['snapshot-changed']);
  expect(await rules('visual/cart/sum.txt')).toEqual([]);
});
