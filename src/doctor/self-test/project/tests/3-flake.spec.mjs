import { expect, test } from 'playwright/test';

test('the shop is ready', async ({ request }) => {
  const page = await request.get('/warm');
  expect(await page.text()).toContain('ready');
});
