import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { settledSteps } from '../../../src/fixer/settled-steps.js';
import { aDiagnosed, aTestFailure, aTest } from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';

const head = "import { test, expect } from '@playwright/test';\n";
const spec = (body: string) =>
  `${head}test('buys', async ({ page }) => {\n  ${body}\n});\ntest('other', async ({ page }) => {\n  page.click('a');\n});\n`;

/** The body of the test after the built-in fixer; null without a fix. */
async function settled(body: string): Promise<string | null> {
  const file = path.join(tempDir(), 'shop.spec.ts');
  await writeFile(file, spec(body));
  const test = { ...aTest('buys'), location: { file, line: 2, column: 1 } };
  const fix = await settledSteps({ lead: aDiagnosed({ failure: aTestFailure({ test }) }) });
  const after = fix?.files[0]?.after;
  if (after === undefined) return null;
  expect(after.slice(after.indexOf("\n});\ntest('other'"))).toBe(
    spec('').slice(spec('').indexOf("\n});\ntest('other'")),
  );
  return after.split('\n')[2]?.trim() ?? null;
}

it.each([
  ["page.locator('#a').click();", "await page.locator('#a').click();"],
  [
    "expect(page.getByRole('status')).toHaveText('Paid');",
    "await expect(page.getByRole('status')).toHaveText('Paid');",
  ],
  ["expect(page.locator('#a')).not.toBeVisible();", "await expect(page.locator('#a')).not.toBeVisible();"],
  [
    "expect(await page.locator('#a').isVisible()).toBe(true);",
    "await expect(page.locator('#a')).toBeVisible();",
  ],
  [
    "expect(await page.locator('#a').textContent()).toBe('Paid');",
    'await expect(page.locator(\'#a\')).toHaveText("Paid");',
  ],
  ["expect(await page.locator('#a').count()).toBe(2);", "await expect(page.locator('#a')).toHaveCount(2);"],
  ["expect(page.url()).toBe('/paid');", 'await expect(page).toHaveURL("/paid");'],
  ["await page.locator('#a').click();", null],
  ['expect(1 + 1).toBe(2);', null],
  ["const a = page.locator('#a').click();", null],
  ["expect(await page.locator('#a').getAttribute('b')).toBe('c');", null],
])('BF-6 lets a flaky test wait for what it does not wait for: %s', async (body, after) => {
  expect(await settled(body)).toBe(after);
});
