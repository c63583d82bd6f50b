import { expect, it } from 'vitest';
import { nearest } from '../../../src/fixer/similar.js';

it.each([
  ['order-button', ['place-order-button', 'cancel'], 'place-order-button'],
  ['Order total: 12.00 EUR', ['Order total: 20.00 EUR'], null],
  ['item 2 of the cart', ['item 3 of the cart'], null],
  [
    'Order total: 12.00 EUR',
    ['The order total: 12.00 EUR', 'Order total: 20.00 EUR'],
    'The order total: 12.00 EUR',
  ],
])(
  'BF-2 BF-4 the nearest to %s among %j is %s; a changed number is not a new name',
  (name, values, found) => {
    expect(nearest(name, values)).toBe(found);
  },
);
