import { expect, it } from 'vitest';
import { testPlaces } from '../../../src/guard/test-places.js';

const places = {
  testFiles: ['tests/cart.spec.ts'],
  testDir: 'tests',
  config: 'playwright.config.ts',
  titles: [],
};

it('HN-4 takes a page among the tests for the app’s where no test read it, and anything else for the tests’', () => {
  const loaded = ['tests/cart.spec.ts', 'tests/pages/read.html'];
  const isTests = testPlaces({ ...places, loaded });
  const own = ['tests/pages/cart.html', 'tests/pages/cart.css'];
  const theirs = [
    'tests/cart.spec.ts',
    'tests/support/cart.ts',
    'tests/data/cart.json',
    'tests/pages/read.html',
    'tests/cart.spec.ts-snapshots/cart.svg',
    'playwright.config.ts',
  ];
  expect([own.filter(isTests), theirs.filter((file) => !isTests(file))]).toEqual([[], []]);
});

it('HN-4 takes all that lies among the tests for theirs where nobody saw what they read', () => {
  expect(testPlaces(places)('tests/pages/cart.html')).toBe(true);
});
