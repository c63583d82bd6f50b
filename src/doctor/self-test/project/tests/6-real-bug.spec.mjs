import { expect, test } from 'playwright/test';

test('an order has a total', async ({ page }) => {
  const answered = page.waitForResponse('**/api/total');
  await page.goto('/total');
  await answered;
  await expect(page.getByRole('status')).toHaveText('Total: 7');
});
