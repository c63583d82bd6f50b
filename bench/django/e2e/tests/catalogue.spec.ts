import { expect, test } from '@playwright/test';

test('lists all goods', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByTestId('products').getByRole('listitem')).toHaveCount(7);
});

test('finds goods by a part of their name', async ({ page }) => {
  await page.goto('/');
  await page.getByLabel('Search').fill('tea');
  await page.getByRole('button', { name: 'Find' }).click();
  await expect(page.getByTestId('products').getByRole('link')).toHaveText([
    'Black tea',
    'Green tea',
    'Teapot',
  ]);
});

test('shows one category', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('link', { name: 'Sweets' }).click();
  await expect(page.getByTestId('products').getByRole('link')).toHaveText(['Candy', 'Honey']);
});

test('shows price and stock of a product', async ({ page }) => {
  await page.goto('/products/sugar-bowl');
  await expect(page.getByTestId('price')).toHaveText('$11.20');
  await expect(page.getByTestId('stock')).toHaveText('8 in stock');
});

test('does not sell what is sold out', async ({ page }) => {
  await page.goto('/products/honey');
  await expect(page.getByTestId('stock')).toHaveText('Sold out');
  await expect(page.getByRole('button', { name: 'Add to cart' })).toBeHidden();
});

test('suggests another product of the category', async ({ page }) => {
  await page.goto('/products/teapot');
  await expect(page.getByTestId('suggestion')).toHaveText('Milk jug');
});
