import { expect, type Page } from '@playwright/test';

export async function signIn(page: Page, name = 'ann', password = 'sesame') {
  await page.goto('/login');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

export async function addToCart(page: Page, slug: string, quantity = 1) {
  await page.goto(`/products/${slug}`);
  await page.getByLabel('Quantity').fill(String(quantity));
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await expect(page.getByRole('status')).toHaveText('Added');
}

export async function placeOrder(page: Page, address = 'Mill Lane 3') {
  await page.goto('/checkout');
  await page.getByLabel('Address').fill(address);
  await page.getByRole('button', { name: 'Place order' }).click();
}
