import { expect, test } from 'playwright/test';

test('the order has arrived', async ({ request }) => {
  const page = await request.get('/delivery');
  expect(await page.text()).toContain('arrived');
});
