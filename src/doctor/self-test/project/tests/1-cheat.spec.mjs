import { expect, test } from 'playwright/test';

test('four are in stock', async ({ page }) => {
  await page.goto('/stock');
  await expect(page.getByTestId('stock')).toHaveText('4 in stock');
});
