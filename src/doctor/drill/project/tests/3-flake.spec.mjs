import { expect, test } from 'playwright/test';

test('the shop is ready', async ({ page }) => {
  await page.goto('/warm');
  await expect(page.getByText('ready')).toBeVisible();
});
