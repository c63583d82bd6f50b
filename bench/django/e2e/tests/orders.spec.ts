import { expect, test } from '@playwright/test';
import { addToCart, placeOrder, signIn } from './shop.js';

test('shows that a customer has no orders yet', async ({ page }) => {
  await signIn(page, 'bo');
  await page.goto('/orders');
  await expect(page.getByTestId('orders')).toHaveText('No orders yet');
});

test('lists the orders of a customer', async ({ page }) => {
  await signIn(page);
  await addToCart(page, 'candy');
  await placeOrder(page);
  await page.goto('/orders');
  await expect(page.getByTestId('orders').getByRole('listitem').first()).toContainText('1 item');
});

test('gives back the stock of an order that is cancelled', async ({ page }) => {
  await signIn(page);
  await addToCart(page, 'teapot', 2);
  await placeOrder(page);
  await page.getByRole('button', { name: 'Cancel order' }).click();
  await expect(page.getByTestId('status')).toHaveText('cancelled');
  await page.getByRole('link', { name: 'Teapot' }).click();
  await expect(page.getByTestId('stock')).toHaveText('12 in stock');
});
