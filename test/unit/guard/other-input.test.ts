import { describe, expect, it } from 'vitest';
import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';

const spec = 'tests/greet.spec.ts';
const text = `import { test, expect } from '@playwright/test';
import { signIn } from './sign-in';

test('greets Ada', async ({ page }) => {
  await signIn(page, { name: 'Ada', age: '36' });
  await page.getByLabel('Tea').selectOption('green');
  await expect(page.getByRole('status')).toHaveText('Hello Ada, 36');
  await expect(page.getByTestId('total')).toHaveText('12.00 €');
});
`;
const given: readonly Edit[] = [
  [spec, text],
  [
    'tests/sign-in.ts',
    `import type { Page } from '@playwright/test';

export async function signIn(page: Page, who: { name: string; age: string }) {
  await page.getByLabel('Name').fill(who.name);
  await page.getByLabel('Age').fill(who.age);
}
`,
  ],
];

/** What the guard says about a new file of the app that is meant to heal this spec. */
async function judgedFix(after: string, before: readonly Edit[] = []) {
  const request = requestOf([['src/greet.ts', after]], 'runtime-error', [...given, ...before]);
  const { violations, notes, otherInput } = await judge({ ...request, healed: [spec] });
  expect(violations).toEqual([]);
  return { notes, otherInput };
}

describe('HN-3 literals that a fix shares with the test it heals', () => {
  it('HN-3 exchanges an input that the fix branches on in the whole test, but not in its title', async () => {
    const { notes, otherInput } = await judgedFix(
      "export const greet = (name: string) => (name === 'Ada' ? 'Hello' : name);\n",
    );
    expect(notes).toEqual([]);
    expect(otherInput?.literals).toMatchObject([{ value: 'Ada', file: 'src/greet.ts', line: 1 }]);
    expect(otherInput?.files).toEqual([
      { path: spec, before: text, after: text.replace("'Ada'", "'Adb'").replace('Hello Ada', 'Hello Adb') },
    ]);
  });

  it.each([
    "switch (name) {\n  case 'Ada':\n}",
    "answers['Ada']",
    "({ Ada: 1, 'Ada': 2 })",
    "['Ada'].includes(name)",
    'age === 36',
  ])('HN-3 recognizes that a fix branches on the input: %s', async (code) => {
    expect((await judgedFix(`${code};\n`)).otherInput).not.toBeNull();
  });

  it.each([
    ["export const label = 'Ada';\n", 'a text that no decision depends on'],
    ["export const pays = (tea: string) => tea === 'green';\n", 'one of a few options that the page offers'],
  ])('HN-3 names %j for the reviewer: %s', async (after) => {
    const { notes, otherInput } = await judgedFix(after);
    expect(otherInput).toBeNull();
    expect(notes).toEqual([{ file: 'src/greet.ts', line: 1, says: expect.stringContaining('uses too') }]);
  });

  it.each([
    ["export const name = 'Ada';\n", "export const old = 'Ada';\n"],
    ["export const name = 'Bob';\n", null],
    ['export const size = 3;\n', null],
    ["export const = 'Ada'", null],
  ])('HN-3 reports nothing for %j in place of %j', async (after, before) => {
    expect(await judgedFix(after, before === null ? [] : [['src/greet.ts', before]])).toEqual({
      notes: [],
      otherInput: null,
    });
  });
});
