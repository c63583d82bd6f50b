import { expect, it } from 'vitest';
import { literalChecks } from '../../../src/guard/literals.js';

const test = {
  path: 'tests/greet.spec.ts',
  text: `import { test, expect } from '@playwright/test';
test('greets', async ({ page }) => {
  await page.getByLabel('Name').fill('Ada');
  await page.getByLabel('Age').fill('36');
  await page.getByRole('button', { name: 'Go' }).click();
  await expect(page.getByRole('status')).toHaveText('Hello Ada, 36');
  await expect(page.getByTestId('total')).toHaveText('12.00 €');
});
`,
};
const fixed = (after: string, before: string | null = 'export const greet = (name) => name;\n') =>
  literalChecks([{ path: 'src/greet.ts', before, after }], test);

it('HN-3 an input of the test that a fix hard-coded is changed in the whole test, with what is expected of it', () => {
  const { checks, forReview } = fixed("export const greet = (name) =>\n  name === 'Ada' ? 'Hello' : name;\n");
  expect(forReview).toEqual([]);
  expect(checks).toMatchObject([
    { literal: { value: 'Ada', file: 'src/greet.ts', line: 2 }, replacement: 'Adb', expects: 'green' },
  ]);
  const [check] = checks;
  expect(check?.text).toBe(test.text.replaceAll('Ada', 'Adb'));
});

it('HN-3 a text that the test only expects is for the reviewer', () => {
  const { checks, forReview } = fixed("export const greet = () => '12.00 €';\n");
  expect(checks).toEqual([]);
  expect(forReview).toEqual([{ value: '12.00 €', file: 'src/greet.ts', line: 1 }]);
});

it('HN-3 literals that were there, that the test does not use, or that are anybody’s, say nothing', () => {
  const none = { checks: [], forReview: [] };
  expect(fixed("export const name = 'Ada';\n", "export const old = 'Ada';\n")).toEqual(none);
  expect(fixed("export const name = 'Bob';\n")).toEqual(none);
  expect(fixed('export const size = 3;\n', null)).toEqual(none);
  expect(fixed("export const broken = 'Ada'")).not.toEqual(none);
  expect(fixed("export const = 'Ada'")).toEqual(none);
});
