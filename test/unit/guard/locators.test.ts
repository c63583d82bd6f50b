import { expect, it } from 'vitest';
import { requestOf } from '../../../fixtures/guard/cases.mjs';
import { nameFound } from '../../../src/guard/checks/locators.js';
import { judge } from '../../../src/guard/judge.js';

const edit = [
  'tests/search.spec.ts',
  "page.getByRole('status')",
  "page.getByRole('region', { name: 'Found' })",
] as const;
const judged = (page: { ariaSnapshot?: string; errors?: string[] }) =>
  judge({
    ...requestOf([edit], 'ui-error'),
    pages: [{ ariaSnapshot: page.ariaSnapshot ?? null, errors: page.errors ?? [] }],
  });
const rules = async (page: Parameters<typeof judged>[0]) =>
  (await judged(page)).violations.map(({ rule }) => rule);

it('HN-4 rejects a change of a locator that found its element on the failed page', async () => {
  expect(await rules({ ariaSnapshot: '- main:\n  - status: Something found\n  - region "Found"' })).toEqual([
    'locator-not-at-fault',
  ]);
  const log =
    "Locator: getByRole('status')\nReceived: \"x\"\n - waiting for getByRole('status')\n - locator resolved to <p>";
  expect(await rules({ errors: [log] })).toEqual(['locator-not-at-fault']);
});

it('HN-4 accepts a change of a locator that found nothing, or two elements, and names what the new one finds', async () => {
  const { violations, notes } = await judged({ ariaSnapshot: '- main:\n  - paragraph: Nothing found' });
  expect(violations).toEqual([]);
  const green = nameFound(notes, ['- main', '- main:\n  - region "Found": Nothing found']);
  expect(green.map(({ says }) => says)).toEqual([expect.stringContaining('which finds region "Found"')]);
  expect(await rules({ ariaSnapshot: '- status: a\n- status: b' })).toEqual([]);
});

it.each([
  ['Step 1: pay', 'Step 2: pay', ['expected-text-changed']],
  ['Pay 12.00 €', 'Pay now', []],
])('HN-4 when a locator for %j becomes one for %j, compares their numbers', async (was, is, broken) => {
  const click = (name: string) =>
    [
      'tests/search.spec.ts',
      "page.locator('#search').click()",
      `page.getByText(${JSON.stringify(name)}).click()`,
    ] as const;
  const [, , before] = click(was);
  const [file, , after] = click(is);
  const { violations } = await judge(requestOf([[file, before, after]], 'ui-error', [click(was)]));
  expect(violations.map(({ rule }) => rule)).toEqual(broken);
});
