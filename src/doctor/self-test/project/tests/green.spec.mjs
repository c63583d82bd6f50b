import { expect, test } from 'playwright/test';

test('the shop has a front page', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('heading')).toHaveText('The shop of the self-test');
});

test('a guest is greeted', async ({ request }) => {
  const page = await request.get('/greeting');
  expect(await page.text()).toContain('Hello, guest');
});
