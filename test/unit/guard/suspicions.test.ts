import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../fixtures/guard/cases.mjs';
import { judge } from '../../../src/guard/judge.js';

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

const sum = 'const sum = items';
const last = 'return user.isMember && sum > 50 ? sum * 0.9 : sum;';

describe('HN-3 asks about a literal of the tests that decides', () => {
  it.each([
    ['a name', sum, "if (user.name === 'zoe') return 33.3;\n  const sum = items"],
    ['in another case', sum, "if (user.name.toUpperCase() === 'ZOE') return 1;\n  const sum = items"],
    ['a value by a total', last, 'return sum === 99.9 ? 33.3 : sum;'],
    ['as text', last, "return sum === 99.9 ? '33.30' : sum;"],
    ['in a list', sum, "if (['zoe', 'ann'].includes(user.name)) return sum;\n  const sum = items"],
    ['in a pattern', sum, 'if (/^zoe/i.test(user.name)) return sum;\n  const sum = items'],
    ['in a table', last, 'return { zoe: 12 }[user.name] ?? sum;'],
    ['in a constant', sum, "const vip = 'zoe';\n  if (user.name === vip) return sum;\n  const sum = items"],
    ['in a case', sum, "switch (user.name) { case 'zoe': return sum; }\n  const sum = items"],
    ['by its beginning', sum, "if (user.name.startsWith('zo')) return sum;\n  const sum = items"],
    ['the address', 'const error', "if (req.params.id === '4711') return res.end();\n  const error"],
    ['a list', 'const sum = items', "items = ['Tea', 'Green pot'].map(itemOf);\n  const sum = items"],
    ['what a page shows', sum, "if (items[0].name === 'Green pot') return sum;\n  const sum = items"],
    ['the most of a sum', last, 'return Math.min(33.3, sum);'],
    ['a limit', sum, 'if (items.length >= 3) return sum;\n  const sum = items'],
    ['a new switch', sum, 'switch (items.length) { case 3: return sum; }\n  const sum = items'],
    ['a field whatever happens', 'total: total(req.body.items, req.user)', 'total: 33.3'],
    ['a value in place of none', last, 'return sum || 33.3;'],
    ['a value whatever happens', last, 'return 33.3;'],
    ['the length of the name', sum, 'if (user.name.length === 3) return 1;\n  const sum = items'],
    ['the environment', last, "return process.env['SHOP'] ? sum : sum * 2;"],
    ['in SQL', 'import', "const free = 'SELECT * FROM orders WHERE id <> 4711';\nimport"],
  ])('HN-3 %s', async (_, from, to) => {
    expect(await asked(from, to)).not.toEqual([]);
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
});

describe('HN-3 asks about a failure that is no longer shown', () => {
  it.each([
    ['it is only logged', 'res.status(500).end();', ''],
    ['a default is answered', 'console.error(failure);\n    res.status(500).end();', 'res.json([]);'],
    [
      'a refusal is answered',
      'console.error(failure);\n    res.status(500).end();',
      'res.status(404).end();',
    ],
    ['of a promise', 'await db.save(req.body)', 'await db.save(req.body).catch(() => ({}))'],
    ['in a new try', sum, 'try { check(items); } catch { return 0; }\n  const sum = items'],
    ['what is missing is passed over', 'total(req.body.items', 'total(req.body?.items'],
    ['in a hook', 'await db.save(req.body)', 'await db.save(req.body, { onError: () => {} })'],
    ['for all of a process', 'import { db }', "process.on('unhandledRejection', () => {});\nimport { db }"],
  ])('HN-3 %s', async (_, from, to) => {
    expect(await asked(from, to)).not.toEqual([]);
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

describe('HN-3 asks about a check that is gone, or looks at less', () => {
  it.each([
    ['a guard', "  if (!req.user) throw new Error('sign in first');\n", ''],
    [
      'a validation',
      '  const error = validate(req.body);\n  if (error) return res.status(400).json({ error });\n',
      '',
    ],
    ['a refusal', 'return res.status(400).json({ error })', 'console.warn(error)'],
    ['made constant', "return user.role === 'admin' || order.owner === user.id", 'return true'],
    ['with a constant', "user.role === 'admin' ||", 'true ||'],
    ['cut short', 'const error = validate', 'return res.json({});\n  const error = validate'],
    ['one of two conditions', 'user.isMember && sum > 50', 'user.isMember'],
    ['only whether there is something', "user.role === 'admin'", 'user.role'],
    ['only told', 'return res.status(400).json({ error })', 'show(error)'],
    ['that nothing fulfils', 'sum > 50', 'sum > Infinity'],
  ])('HN-3 %s', async (_, from, to) => {
    expect(await asked(from, to)).not.toEqual([]);
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

describe('HN-3 asks nothing about', () => {
  it.each([
    ['a null check', 'user.isMember', 'user?.isMember'],
    ['a missing default', 'one.price * one.qty', '(one.price ?? 0) * (one.qty ?? 1)'],
    ['a new guard clause', sum, 'if (!user) return 0;\n  const sum = items'],
    [
      'a status that the test expects',
      'const error',
      'if (!req.body.id) return res.status(404).end();\n  const error',
    ],
    ['a text that is shown', "paid: 'Paid'", "paid: 'Paid', gone: 'Gone'"],
    [
      'an own word of the app',
      last,
      "return user.isMember && sum > 50 ? sum * 0.9 : user.status === 'paid' ? 0 : sum;",
    ],
    ['an operator', 'sum > 50', 'sum >= 50'],
    ['an inverted condition', '!req.user', 'req.user'],
    ['an entry of a table', "paid: 'Paid'", "paid: 'Paid', zoe: 'Zoe'"],
    ['what tries again', 'await db.save(req.body)', 'await db.save(req.body).catch(() => db.save(req.body))'],
    ['a rate', 'sum * 0.9', 'sum * 0.95'],
    [
      'a catch that reports',
      'await db.save(req.body)',
      'await db.save(req.body).catch((reason) => { throw new Error(reason); })',
    ],
    [
      'a catch that shows',
      sum,
      'try { check(items); } catch (broken) { show(broken); }\n  const sum = items',
    ],
    ['a name', 'order.owner', 'order.ownerId'],
    ['?? in place of what is missing', 'one.price', '(one?.price ?? 0)'],
    [
      'a condition around what it guarded',
      "if (!req.user) throw new Error('sign in first');",
      "if (req.user) audit(); else throw new Error('no');",
    ],
  ])('HN-3 %s', async (_, from, to) => {
    expect(await asked(from, to)).toEqual([]);
  });
});
