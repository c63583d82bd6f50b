import { expect, it } from 'vitest';
import { chooseRegression, type TestFile } from '../../../src/core/choose-regression.js';

const file = (name: string, durationMs: number): TestFile => ({
  file: `/project/tests/${name}.spec.ts`,
  ids: [`${name}-1`, `${name}-2`],
  durationMs,
});
const files = [file('admin', 4000), file('cart', 4000), file('search', 4000), file('order', 4000)];
const bounds = {
  healed: ['/project/tests/search.spec.ts'],
  changed: ['/project/src/cart/total.ts'],
  timeMs: 60_000,
  workers: 1,
};

const names = (some: readonly TestFile[]) => some.map((one) => one.ids[0]);

it('HN-6 runs everything if time allows, starting with what is near the change', () => {
  const chosen = chooseRegression(files, bounds);
  expect(names(chosen.files)).toEqual(['search-1', 'cart-1', 'admin-1', 'order-1']);
  expect(chosen.leftOut).toEqual([]);
});

it('HN-6 is limited by time, and says what it leaves out', () => {
  const chosen = chooseRegression(files, { ...bounds, timeMs: 9000 });
  expect(names(chosen.files)).toEqual(['search-1', 'cart-1']);
  expect(names(chosen.leftOut)).toEqual(['admin-1', 'order-1']);
});

it('HN-6 expects as many workers as in the first run', () => {
  expect(chooseRegression(files, { ...bounds, timeMs: 9000, workers: 2 }).leftOut).toEqual([]);
});

it('HN-6 runs at least one file', () => {
  expect(names(chooseRegression(files, { ...bounds, timeMs: 1 }).files)).toEqual(['search-1']);
});
