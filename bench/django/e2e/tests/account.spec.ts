import { expect, test } from '@playwright/test';
import { signIn } from './shop.js';

test('signs in and out', async ({ page }) => {
  await signIn(page);
  await expect(page.getByTestId('user')).toHaveText('ann');
  await page.getByRole('link', { name: 'Sign out' }).click();
  await expect(page.getByTestId('user')).toBeHidden();
});

test('refuses a wrong password', async ({ page }) => {
  await signIn(page, 'bo', 'wrong');
  await expect(page.getByRole('alert')).toHaveText('Name and password do not fit');
});

test('asks to sign in before it shows orders', async ({ page }) => {
  await page.goto('/orders');
  await expect(page.getByRole('heading')).toHaveText('Sign in');
});
