import { expect, test } from 'playwright/test';

test('an order is placed', async ({ page }) => {
  await page.goto('/order');
  // Planted: the page calls the button place-order.
  await page.getByTestId('order-button').click();
  await expect(page.getByRole('status')).toHaveText('Thank you');
});
