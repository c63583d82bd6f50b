import { expect, test } from 'playwright/test';

test('a customer is greeted by name', async ({ page }) => {
  await page.goto('/greeting?name=Ada');
  await expect(page.getByRole('heading', { name: 'Hello, Ada' })).toBeVisible();
});
