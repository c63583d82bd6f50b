import { expect, test } from 'playwright/test';

test('the order has arrived', async ({ page }) => {
  await page.goto('/delivery');
  await expect(page.getByTestId('delivery')).toHaveText('arrived');
});
