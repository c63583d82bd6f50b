import { expect, it } from 'vitest';
import { requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';

const file = 'tests/rows.spec.ts';
const imports = "import { test, expect } from '@playwright/test';\nimport postgres from 'postgres';\n";

/** The rules that a change to a spec breaks. */
async function rulesOf(before: string, after: string): Promise<string[]> {
  const { violations } = await judge(requestOf([[file, after]], 'ui-error', [[file, before]]));
  return violations.map(({ rule }) => rule);
}

const titled = (title: string, body: string) => `test('${title}', async ({ page }) => {\n${body}\n});\n`;
const shown = "await expect(page.getByText('Tea')).toBeVisible();";

it('HN-3 judges a tagged template as a call of its tag', async () => {
  const start = `${imports}const sql = postgres('db');\ntest.beforeEach(async () => { await sql\`delete from tea where id = \${4}\`; });\n${titled('x', shown)}`;
  expect(await rulesOf(start, start + titled('y', shown))).toEqual([]);
  expect(await rulesOf(start, start + titled('y', 'await sql`${process.exit()}`;'))).toEqual([
    'process-ended',
  ]);
  expect(await rulesOf(start, start.replace('${4}', '${5}'))).toEqual(['step-changed']);
  expect(await rulesOf(start, start.replace('delete', 'select'))).toEqual(['step-changed']);
  expect(await rulesOf(start, start.replace(shown, `await sql\`\`;\n${shown}`))).toEqual(['step-added']);
});

it('HN-3 follows a test helper that is used as a tag, with the values it is given', async () => {
  const sees = 'const sees = async (texts, of) => { await expect(of).toHaveText(texts[0]); };\n';
  const test = titled('x', "await sees`Tea ${page.getByRole('row')}`;");
  expect(await rulesOf(imports + sees + test, imports + sees + test.replace("'row'", "'cell'"))).toEqual([]);
  expect(await rulesOf(imports + sees + test, imports + sees + test.replace('Tea', 'T'))).toEqual([
    'expected-changed',
  ]);
});

it('HN-3 judges the defaults in a destructured parameter', async () => {
  const handed = `${imports}export const rows = test.extend({
  reset: async ({ page }, use) => {
    const reset = async (slug, { price, ms = 4 }) => { await page.request.put(slug, { data: price + ms }); };
    await use({ reset: async (slug, given) => reset(slug, given) });
    await page.locator('#end').click();
  },
});
`;
  expect(await rulesOf(handed, handed.replace("locator('#end')", "getByText('End')"))).toEqual([]);
  expect(await rulesOf(handed, handed.replace('ms = 4', 'ms = 9'))).toContain('step-changed');
});

it.each(["import { expect } from '@playwright/test';", "import { expect } from 'playwright-bdd';"])(
  'HN-3 judges edited code that nothing loads but that imports the test runner, such as steps of features: %s',
  async (first) => {
    const steps = `${first}\nThen('the count says', async ({ page }) => { await expect(page.getByTestId('n')).toHaveText('1'); });\n`;
    const path = 'behaviour/steps.ts';
    const given: [string, string][] = [[path, steps]];
    const weaker = steps.replace("toHaveText('1')", 'toBeVisible()');
    const { violations } = await judge(requestOf([[path, weaker]], 'ui-error', given));
    expect(violations.map(({ rule }) => rule)).toContain('matcher-loosened');
    const moved = await judge(requestOf([[path, steps.replace("'n'", "'count'")]], 'ui-error', given));
    expect(moved.violations).toEqual([]);
  },
);
