import { expect, it } from 'vitest';
import { placesOf } from '../../../src/guard/run-guard.js';
import { testPlaces } from '../../../src/guard/test-places.js';
import { aResult, aSuiteRun, aTest } from '../../rig/builders.js';

const places = {
  testFiles: ['tests/cart.spec.ts'],
  testDir: 'tests',
  config: 'playwright.config.ts',
  titles: [],
};

it('HN-4 counts a page among the tests as the app’s if no test read it, and anything else as the tests’', () => {
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

it('HN-4 counts everything among the tests as theirs if it is unknown what they read', () => {
  expect(testPlaces(places)('tests/pages/cart.html')).toBe(true);
});

it('HN-4 counts scenarios as the tests’, from which their specs are generated elsewhere', () => {
  const testFiles = ['.features-gen/features/cart.feature.spec.js'];
  const isTests = testPlaces({ ...places, testFiles, testDir: '.features-gen', loaded: testFiles });
  expect(isTests('features/cart.feature')).toBe(true);
});

it('HN-4 counts the folder of a test as the tests’ if Playwright looks for tests above the project, too', () => {
  const location = { file: '/projects/shop/e2e/cart.spec.ts', line: 1, column: 1 };
  const tests = [{ ...aResult('t1'), test: aTest('t1', { location }) }];
  const suite = aSuiteRun({ tests, rootDir: '/projects' });
  const isTests = testPlaces(placesOf('/projects/shop', suite, () => false));
  expect(['e2e/support/cart.ts', 'src/cart.ts'].map(isTests)).toEqual([true, false]);
});
