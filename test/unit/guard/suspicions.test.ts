import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';
import { jsonLines } from '../../rig/json-lines.js';

const app = 'src/orders.ts';
const spec = 'tests/orders.spec.ts';
const specText = `import { test, expect } from '@playwright/test';
test('orders', async ({ page, request }) => {
  await page.goto('/orders/4711');
  await page.getByLabel('Name').fill('zoe');
  await page.getByLabel('Quantity').fill('3');
  await page.getByRole('button', { name: 'Order' }).click();
  await expect(page.getByTestId('total')).toHaveText('Total: 33.30 €');
  await expect(page.getByRole('status')).toHaveText('Paid');
  await expect(page.getByRole('listitem')).toHaveText(['Tea', 'Green pot', 'Bag']);
  expect((await request.get('/api/orders/4711')).status()).toBe(404);
});
`;
const code = `import { db } from './db';
const statuses = { open: 'Open', paid: 'Paid' };
export function total(items, user) {
  if (!items.length) return 0;
  const sum = items.reduce((all, one) => all + one.price * one.qty, 0);
  return user.isMember && sum > 50 ? sum * 0.9 : sum;
}
export function isAllowed(user, order) {
  return user.role === 'admin' || order.owner === user.id;
}
export async function order(req, res) {
  const error = validate(req.body);
  if (error) return res.status(400).json({ error });
  if (!req.user) throw new Error('sign in first');
  try {
    const saved = await db.save(req.body);
    res.json({ id: saved.id, total: total(req.body.items, req.user), status: statuses[saved.status] });
  } catch (failure) {
    console.error(failure);
    res.status(500).end();
  }
}
`;

/** What a person is asked about a fix that replaces a text in a file of the app. */
async function asked(from: string, to: string, path = app, text = code) {
  const after = text.replace(from, () => to);
  expect(after).not.toBe(text);
  const request = requestOf([[path, after]], 'runtime-error', [
    [path, text],
    [spec, specText],
  ]);
  const { suspicions, violations } = await judge({ ...request, healed: [spec] });
  expect(violations).toEqual([]);
  return suspicions.map(({ says }) => says);
}

/** A fix that replaces a text, and whether a person is asked about it, and why. */
interface Fix {
  readonly asks: string;
  readonly what: string;
  readonly from: string;
  readonly to: string;
}

describe('HN-3 what decides in an app is compared before and after a fix', () => {
  it.each(jsonLines<Fix>(import.meta.dirname, 'decisions.jsonl'))('HN-3 $asks: $what', async (fix) => {
    expect((await asked(fix.from, fix.to)).length > 0).toBe(!fix.asks.includes('nothing'));
  });

  it('HN-3 in a template and in another language', async () => {
    expect(
      await asked(
        '{{ a }}',
        "{{ name === 'zoe' ? b : a }}",
        'src/a.vue',
        '<template><p>{{ a }}</p></template>',
      ),
    ).toHaveLength(1);
    expect(
      await asked(
        '  return a',
        "  if name == 'zoe':\n    return b\n  return a",
        'app/a.py',
        'def a():\n  return a\n',
      ),
    ).toHaveLength(1);
  });

  it('HN-3 in what a list is filtered by', async () => {
    const list = 'export const open = (orders) => orders.filter(({ isPaid }) => !isPaid);\n';
    expect(await asked('.filter(({ isPaid }) => !isPaid)', '', app, list)).toHaveLength(1);
    expect(await asked('({ isPaid }) => !isPaid', '({ paid }) => !paid', app, list)).toEqual([]);
  });

  it('HN-3 before the handler of a route', async () => {
    const routes = "app.get('/report', role('admin'), (req, res) => res.json(1));\n";
    expect(await asked("role('admin'), ", '', 'src/routes.ts', routes)).toHaveLength(1);
  });

  it('HN-3 in markup and in SQL', async () => {
    expect(await asked(' required', '', 'src/a.html', '<input name="a" required>')).toHaveLength(1);
    expect(await asked(' NOT NULL', '', 'db/a.sql', 'CREATE TABLE a (b text NOT NULL);')).toHaveLength(1);
    expect(
      await asked(' required', '', 'src/a.tsx', 'export const a = () => <input name="a" required />;'),
    ).toHaveLength(1);
  });
});

it('HN-3 asks about an element of failures, or one that the test looks for, that is hidden', async () => {
  const css = '.a {\n  color: red;\n}\n.error {\n  color: red;\n}\n';
  expect(await asked('.error {', '.error {\n  display: none;', 'a.css', css)).toHaveLength(1);
  expect(await asked('.a {', '.total {\n  display: none;\n}\n.a {', 'a.css', css)).toHaveLength(1);
  expect(await asked('.a {', '.a {\n  display: none;', 'a.css', css)).toEqual([]);
  const html = '<p class="error" role="alert"></p>';
  expect(await asked('role="alert"', 'role="alert" hidden', 'a.html', html)).toHaveLength(1);
});
