/// <reference lib="dom" />
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test, type Page, type TestInfo } from '@playwright/test';
import { aReportCause } from '../rig/a-report.js';
import { hostile, storedRun } from '../rig/stored-run.js';
import { axeViolations } from './axe.js';

const selfHeal = path.join(import.meta.dirname, '..', '..', 'bin', 'self-heal.js');

/** Opens the page that `self-heal report` makes of a stored run, and returns its requests to other files, errors and dialogs. */
async function openReport(
  page: Page,
  testInfo: TestInfo,
  over: Parameters<typeof storedRun>[1] = {},
): Promise<string[]> {
  const project = testInfo.outputPath('shop');
  await mkdir(project, { recursive: true });
  await storedRun(project, over);
  const { stdout } = await promisify(execFile)(process.execPath, [selfHeal, 'report'], { cwd: project });
  const file = stdout.trim();
  const troubles: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith('data:') && url !== pathToFileURL(file).href) troubles.push(url);
  });
  page.on('pageerror', ({ message }) => troubles.push(message));
  page.on('dialog', (dialog) => {
    troubles.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('console', (message) => troubles.push(message.text()));
  await page.goto(pathToFileURL(file).href);
  return troubles;
}

test('RP-4 a single file shows screenshot, step, evidence, diff, proof and cost of a cause', async ({
  page,
}, testInfo) => {
  const troubles = await openReport(page, testInfo);
  await unfold(page, 'c1');
  const cause = page.getByRole('article', { name: /^c1/ });
  await expect(
    cause.getByRole('img', { name: "Screenshot of the page when c1's test failed" }),
  ).toHaveJSProperty('naturalWidth', 1);
  await expect(cause.getByText(`Failed step: Click ${hostile}`)).toBeVisible();
  await expect(cause.locator('.proof')).toHaveText('Proof red red | green | red | green');
  const diff = cause.getByRole('group', { name: 'Changes to src/orders.ts' });
  await expect(diff.locator('.removed')).toContainText('order.delivery.id');
  await expect(diff.locator('.added')).toContainText('order.delivery?.id');
  await expect(cause.getByText('$0.02').first()).toBeVisible();
  await cause.getByText('What happened, in order').click();
  await expect(cause.getByRole('group', { name: 'What happened, in order' })).toContainText(
    /\/api\/orders .*→ 500/,
  );
  expect(troubles).toEqual([]);
});

test("RP-4 shows the guard's findings with their lines, and the question with the command that answers it", async ({
  page,
}, testInfo) => {
  await openReport(page, testInfo);
  await unfold(page, 'c2');
  const found = page
    .getByRole('article', { name: /^c2/ })
    .getByRole('list', { name: 'Findings of the guard' });
  await expect(found).toContainText('assertion-removed in tests/cart.spec.ts:12: an assertion was removed');
  await expect(found.locator('.removed')).toContainText('toHaveText');
  await expect(page.getByText('npx self-heal escalations resolve e-7')).toBeVisible();
});

test('RP-4 opens with what was fixed, one line per cause, each cause before those that its fix revealed', async ({
  page,
}, testInfo) => {
  const [first, then] = ['c8', 'c2'];
  await openReport(page, testInfo, {
    causes: [
      aReportCause({ id: 'c1', tests: ['t2'], verdict: 'failed', headline: 'still red' }),
      aReportCause({
        id: first,
        tests: ['t1'],
        verdict: 'superseded',
        category: 'build-error',
        headline: 'first',
      }),
      aReportCause({ id: then, tests: ['t1'], parent: first, headline: 'revealed by it' }),
    ],
  });
  await expect(page.getByRole('heading', { level: 2 })).toContainText(['Fixed 2', 'Not fixed 1']);
  const lines = page.locator('.cause > summary h3');
  await expect(lines).toHaveText(['first', 'revealed by it', 'still red']);
  await expect(page.locator('article')).toHaveCount(3);
  await expect(page.locator('article').filter({ visible: true })).toHaveCount(0);

  await page.getByText(/^4 tests:/).click();
  const rows = page.getByRole('group', { name: 'All tests' }).locator('tbody tr');
  await expect(rows).toHaveCount(4);
});

test('RP-4 EV-10 shows all text from an app, an agent or a patch as plain text', async ({
  page,
}, testInfo) => {
  const troubles = await openReport(page, testInfo);
  await openAll(page);
  await expect(page.getByText('onerror=alert(1)').first()).toBeVisible();
  expect(await page.locator('script, img[src="x"], pre img, code img').count()).toBe(0);
  expect(troubles).toEqual([]);
});

test(
  'RP-4 can be used with a keyboard or a screen reader, and does not scroll sideways',
  { tag: '@narrow' },
  async ({ page }, testInfo) => {
    await openReport(page, testInfo);
    await page.keyboard.press('Tab');
    await expect(page.locator('.cause > summary').first()).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('article', { name: /^c1/ })).toBeVisible();
    await openAll(page);
    expect(
      await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeViolations(page)).toEqual([]);
    }
  },
);

async function unfold(page: Page, id: string): Promise<void> {
  await page
    .locator('.cause > summary')
    .filter({ hasText: `${id} ·` })
    .click();
}

/** Opens every closed section with the keyboard. */
async function openAll(page: Page): Promise<void> {
  const closed = page.locator('details:not([open]) > summary');
  for (let left = await closed.count(); left > 0; left -= 1) {
    await closed.first().press('Enter');
    await expect(closed).toHaveCount(left - 1);
  }
}
