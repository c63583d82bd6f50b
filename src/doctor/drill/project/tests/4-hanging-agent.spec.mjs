import { expect, test } from 'playwright/test';

test('the shop is open', async ({ page }) => {
  await page.goto('/opening');
  await expect(page.getByTestId('opening')).toHaveText('open');
});
