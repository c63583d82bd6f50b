import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { failing, locatorTimeout } from './classify-evidence.js';

describe('what a database said, shown by the page', () => {
  it.each([
    [
      'an error page',
      '- heading "ProgrammingError at /orders" [level=1]\n- text: relation "shop_order" does not exist',
      { table: 'shop_order' },
    ],
    [
      'a quoted line of the snapshot',
      '- paragraph: "new row violates row-level security policy for table \\"order_items\\""',
      { table: 'order_items' },
    ],
    ['SQLite', '- text: "no such column: orders.vat"', { column: 'vat' }],
    [
      'a constraint',
      '- alert: duplicate key value violates unique constraint "users_email_key"',
      { constraint: 'users_email_key' },
    ],
  ])('EV-5 CS-2 %s is the cause, with its facts, and the locator the symptom', (_, ariaSnapshot, facts) => {
    expect(classify(failing(locatorTimeout, { ariaSnapshot }))).toMatchObject({
      category: 'database-error',
      alternatives: ['ui-error'],
      facts,
    });
  });

  it.each([
    ['a heading of a manual', '- heading "What to do when a relation does not exist"'],
    ['a field', '- text: The constraint failed'],
    ['a person', '- text: permission denied for you'],
    ['a shop', '- text: Duplicate entry'],
  ])('CS-8 %s decides nothing', (_, ariaSnapshot) => {
    expect(classify(failing(locatorTimeout, { ariaSnapshot }))).toMatchObject({
      category: 'ui-error',
      alternatives: [],
    });
  });
});
