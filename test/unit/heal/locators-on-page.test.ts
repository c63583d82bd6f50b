import { expect, it } from 'vitest';
import { judgeLocators } from '../../../src/heal/attempt/locators-on-page.js';

const old = 'getByRole("listitem")';
const counted = (count: number) =>
  `Error: expect(locator).toHaveCount(expected) failed\n\nLocator:  getByRole('listitem')\nExpected: 2\nReceived: ${count}\n\nCall log:\n  - waiting for getByRole('listitem')\n    9 × locator resolved to ${count} elements\n      - unexpected value "${count}"\n`;
const strict = `Error: locator.click: Error: strict mode violation: getByRole('listitem') resolved to 2 elements\nCall log:\n  - waiting for getByRole('listitem')\n`;

it.each([
  ['found other elements than the test counts', counted(3), 1],
  ['found none', counted(0), 0],
  ['found too many for one action', strict, 0],
])('HN-3 HN-4 a locator may be narrowed only if it was at fault: it %s', (_, error, count) => {
  const change = { old, now: `${old}.filter({ hasText: "Ann" })`, file: 'a.spec.ts', line: 3, step: '' };
  const page = { ariaSnapshot: null, errors: [error] };
  expect(judgeLocators([change], [page]).violations).toHaveLength(count);
});
