import { describe, expect, it } from 'vitest';
import { type Edit, requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';
import { exchangeInputs } from '../../../src/guard/other-input.js';

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

/** The other input for a new file of the app that is meant to heal this spec. */
async function otherInputFor(after: string, before: readonly Edit[] = []) {
  const request = requestOf([['src/greet.ts', after]], 'runtime-error', [...given, ...before]);
  const { violations, otherInput } = await judge({ ...request, healed: [spec] });
  expect(violations).toEqual([]);
  return otherInput;
}

describe('HN-3 the texts that a test types', () => {
  it('HN-3 exchanges them in the whole test, but not in its title', async () => {
    const found = await otherInputFor('export const greet = (name: string) => `Hello ${name}`;\n');
    expect(found).toMatchObject({ inputs: ['Ada', '36'], named: null });
    const now = text
      .replace("'Ada'", "'Adb'")
      .replace("'36'", "'37'")
      .replace('Hello Ada, 36', 'Hello Adb, 37');
    expect(found?.files).toEqual([spec, 'tests/sign-in.ts']);
    const [[, helper = ''] = []] = given.slice(1);
    const files = new Map([
      [spec, text],
      ['tests/sign-in.ts', helper ?? ''],
    ]);
    expect([...exchangeInputs(files, found?.inputs ?? [])]).toEqual([[spec, now]]);
  });

  it.each(["if (name === 'Ada') greet();", "answers['ada'] = 1;", 'if (age === 36) greet();'])(
    'HN-3 names the place where the fix has one of them, in any case: %s',
    async (code) => {
      const found = await otherInputFor(`log();\n${code}\n`);
      expect(found?.named).toMatchObject({ file: 'src/greet.ts', line: 2 });
    },
  );

  it('HN-3 names nothing that the app had already', async () => {
    const found = await otherInputFor("greet('Ada', 1);\n", [['src/greet.ts', "greet('Ada');\n"]]);
    expect(found?.named).toBeNull();
  });

  it('HN-3 says that a test types what is not in its files', async () => {
    const typed =
      "test('x', async ({ page }) => { await page.getByLabel('Name').fill(process.env.NAME); });\n";
    const found = await otherInputFor('go();\n', [
      [spec, `import { test } from '@playwright/test';\n${typed}`],
    ]);
    expect(found).toMatchObject({ inputs: [], named: null });
  });

  it('HN-3 has nothing to say of a test that only clears a field', async () => {
    const typed = "test('x', async ({ page }) => { await page.getByLabel('Name').fill(''); });\n";
    expect(
      await otherInputFor('go();\n', [[spec, `import { test } from '@playwright/test';\n${typed}`]]),
    ).toBeNull();
  });
});
