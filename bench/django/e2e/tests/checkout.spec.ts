import { expect, test } from '@playwright/test';
import { addToCart, placeOrder, signIn } from './shop.js';

test('counts what is in the cart', async ({ page }) => {
  await addToCart(page, 'green-tea', 2);
  await expect(page.getByTestId('cart-count')).toHaveText('2');
  await page.goto('/cart');
  await expect(page.getByTestId('total')).toHaveText('$13.00');
});

test('takes a product out of the cart', async ({ page }) => {
  await addToCart(page, 'green-tea');
  await page.goto('/cart');
  await page.getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText('Your cart is empty')).toBeVisible();
});

test('does not sell more than there is', async ({ page }) => {
  await page.goto('/products/milk-jug');
  await page.getByLabel('Quantity').fill('9');
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await expect(page.getByRole('status')).toHaveText('Only 8 in stock');
});

test('takes an order', async ({ page }) => {
  await signIn(page);
  await addToCart(page, 'green-tea', 3);
  await placeOrder(page);
  await expect(page.getByTestId('address')).toHaveText('Mill Lane 3');
  await expect(page.getByTestId('total')).toHaveText('$19.50');
});

test('takes off what a coupon is worth', async ({ page }) => {
  await signIn(page);
  await addToCart(page, 'black-tea', 2);
  await page.goto('/checkout');
  await page.getByLabel('Address').fill('Mill Lane 3');
  await page.getByLabel('Coupon').fill('SPRING');
  await page.getByRole('button', { name: 'Place order' }).click();
  await expect(page.getByTestId('total')).toHaveText('$9.00');
});

test('asks for an address', async ({ page }) => {
  await signIn(page);
  await addToCart(page, 'green-tea');
  await placeOrder(page, ' ');
  await expect(page.getByRole('alert')).toHaveText('Please tell us where to send it');
});
