import { expect, test } from '@playwright/test';

test('tells the stock of a product', async ({ request }) => {
  const response = await request.get('/api/stock/candy');
  expect(response.status()).toBe(200);
  expect(await response.json()).toEqual({ slug: 'candy', stock: 25 });
});

test('takes a delivery', async ({ request }) => {
  const response = await request.post('/api/stock/black-tea', { data: { quantity: 5 } });
  expect(response.status()).toBe(201);
});
