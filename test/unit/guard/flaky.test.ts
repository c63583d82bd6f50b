import { describe, expect, it } from 'vitest';
import { judged } from './judged.js';

const file = 'tests/shop.spec.ts';
const imports =
  "import { test, expect } from '@playwright/test';\nimport { writeFileSync, readFileSync } from 'node:fs';\n";
const spec = (body: string, before = '') =>
  `${imports}${before}test('buys', async ({ page }, info) => {\n${body}\n});\n`;
const status = "page.getByRole('status')";
const row = (name: string) =>
  `writeFileSync(${name}, 'tea');\nexpect(readFileSync(${name}, 'utf8')).toBe('tea');`;

/** What the guard says about a flaky spec that was changed: let in, refused, or for a person. */
async function said(before: string, after: string, category: 'flaky' | 'ui-error' = 'flaky') {
  const { violations, differences } = await judged([[file, after]], category, [[file, before]]);
  if (violations.length > 0) return `refused: ${violations[0]?.says}`;
  return differences.length > 0 ? 'person' : 'in';
}

describe('FL-3 a flaky test may change in waiting alone; what isolates it is a person’s to let in', () => {
  it.each([
    ['awaits a step', `${status}.click();`, `await ${status}.click();`],
    [
      'awaits an assertion',
      `expect(${status}).toHaveText('Paid');`,
      `await expect(${status}).toHaveText('Paid');`,
    ],
    [
      'waits until it is visible',
      `expect(await ${status}.isVisible()).toBe(true);`,
      `await expect(${status}).toBeVisible();`,
    ],
    [
      'waits until it is not visible',
      `expect(await ${status}.isVisible()).toBeFalsy();`,
      `await expect(${status}).not.toBeVisible();`,
    ],
    [
      'waits for a text',
      `expect(await ${status}.textContent()).toBe('Paid');`,
      `await expect(${status}).toHaveText('Paid');`,
    ],
    [
      'waits for a part of a text',
      `expect(await ${status}.innerText()).toContain('Pa');`,
      `await expect(${status}).toContainText('Pa');`,
    ],
    [
      'waits for a number',
      `expect(await ${status}.count()).toEqual(3);`,
      `await expect(${status}).toHaveCount(3);`,
    ],
    ['waits for an address', `expect(page.url()).toBe('/paid');`, `await expect(page).toHaveURL('/paid');`],
    [
      'waits before it goes on',
      `await ${status}.click();`,
      `await expect(${status}).toBeEnabled();\nawait ${status}.click();`,
    ],
  ])('FL-3 lets it in: it %s', async (_, before, after) => {
    expect(await said(spec(before), spec(after))).toBe('in');
  });

  it.each([
    ['it sleeps', 'await page.waitForTimeout(100);'],
    ['it sleeps', 'await new Promise((done) => setTimeout(done, 100));'],
    ['it raises a time-out', 'test.setTimeout(60_000);'],
    ['it raises a time-out', 'test.slow();'],
    ['it raises a time-out', `await expect(${status}).toBeVisible({ timeout: 60_000 });`],
    ['it leaves the test out', 'test.skip();'],
    ['it leaves the test out', 'test.fixme(true);'],
    ['it tries again', 'await expect(() => 1).toPass();'],
    ['it waits for silence', "await page.waitForLoadState('networkidle');"],
  ])('FL-3 refuses it: %s', async (why, line) => {
    const step = `await ${status}.click();`;
    expect(await said(spec(step), spec(`${line}\n${step}`))).toContain(why);
  });

  it.each([
    ['it runs tests one after', "test.describe.configure({ mode: 'serial' });\n"],
    ['it tries again', 'test.describe.configure({ retries: 2 });\n'],
  ])('FL-3 refuses it for a whole file: %s', async (why, line) => {
    const step = `await ${status}.click();`;
    expect(await said(spec(step), spec(step, line))).toContain(why);
  });

  it.each([
    [
      'it checks less',
      `await expect(${status}).toHaveText('Paid');`,
      `await expect(${status}).toBeVisible();`,
    ],
    [
      'it asserts softly',
      `await expect(${status}).toHaveText('Paid');`,
      `await expect.soft(${status}).toHaveText('Paid');`,
    ],
    ['it swallows errors', `await ${status}.click();`, `await ${status}.click().catch(() => {});`],
  ])('FL-3 refuses it: %s than before', async (why, before, after) => {
    expect(await said(spec(before), spec(after))).toContain(why);
  });

  it.each([
    [
      'expects something else',
      `expect(await ${status}.textContent()).toBe('Paid');`,
      `await expect(${status}).toHaveText('Open');`,
    ],
    [
      'reads another file in one place only',
      row("'a.txt'"),
      `writeFileSync(\`a-\${info.testId}.txt\`, 'tea');\nexpect(readFileSync('a.txt', 'utf8')).toBe('tea');`,
    ],
    ['has a file of its own', row("'a.txt'"), row('`a-${info.testId}.txt`')],
    [
      'takes away what a test leaves behind',
      row("'a.txt'"),
      `${row("'a.txt'")}\nwriteFileSync('a.txt', '');`,
    ],
    [
      'expects what the page says',
      `${status}.click();`,
      `await expect(${status}).toHaveText(await ${status}.innerText());`,
    ],
    [
      'looks for anything',
      "await page.getByRole('button', { name: 'Pay' }).click();",
      "await page.getByRole('button', { name: info.testId ? /./ : '' }).click();",
    ],
    [
      'mocks the app',
      `await ${status}.click();`,
      `await page.route('**', (route) => route.fulfill());\nawait ${status}.click();`,
    ],
  ])('FL-3 leaves it to a person: it %s', async (_, before, after) => {
    expect(await said(spec(before), spec(after))).toBe('person');
  });

  it('FL-3 holds for flakes alone: a one-shot check that is not flaky stays', async () => {
    const [before, after] = [
      `expect(await ${status}.isVisible()).toBe(true);`,
      `await expect(${status}).toBeVisible();`,
    ];
    expect(await said(spec(before), spec(after), 'ui-error')).not.toBe('in');
  });
});
