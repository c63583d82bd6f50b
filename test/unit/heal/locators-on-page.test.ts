import { describe, expect, it } from 'vitest';
import { judgeLocators, notAsMany } from '../../../src/heal/attempt/locators-on-page.js';

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

describe('HN-4 a new locator of a count finds as many as the app shows', () => {
  const page = `- list "People":
  - listitem: Ann Lee
  - listitem: Bob
  - listitem:
    - text: Ann
    - button "Remove"
- list "Rooms":
  - listitem: Ann's room`;
  const count = 'await expect(‹locator›).toHaveCount(2)';
  const named = 'getByRole("list", { name: "People" })';

  it.each([
    ['all of a list', '.person', `${named}.getByRole("listitem")`, count, 0],
    ['all of its kind on the page', '.person', 'getByRole("listitem")', count, 0],
    [
      'some of a list, by a text',
      '.person',
      `${named}.getByRole("listitem").filter({ hasText: "Ann" })`,
      count,
      1,
    ],
    ['some of a list, by position', '.person', 'getByRole("listitem").first()', count, 1],
    ['none on the page', '.person', 'getByRole("row")', count, 0],
    ['none on the page, by a name', '.person', 'getByRole("row", { name: "Ann" })', count, 1],
    ['what no snapshot shows', 'locator(".person")', 'locator(".ann")', count, 1],
    ['what it finds by another text of the same kind', 'getByText("Anna")', 'getByText("Ann")', count, 0],
    [
      'one element, which is not counted',
      '.person',
      'getByRole("listitem").first()',
      'await ‹locator›.click()',
      0,
    ],
    ['a list of texts', '.person', 'getByText("Ann")', 'await expect(‹locator›).toHaveText(["Ann"])', 1],
  ])('HN-4 it finds %s', (_, before, now, step, doubts) => {
    const change = { old: before, now, file: 'a.spec.ts', line: 3, step };
    expect(notAsMany([change], [page])).toHaveLength(doubts);
  });
});
