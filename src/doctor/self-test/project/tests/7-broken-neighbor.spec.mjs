import { expect, test } from 'playwright/test';

test('a customer is greeted by name', async ({ request }) => {
  const page = await request.get('/greeting?name=Ada');
  expect(await page.text()).toContain('Hello, Ada');
});
