import { describe, expect, it } from 'vitest';
import { hunksIn } from '../../../src/fixer/app-changes.js';
import { renamedIn } from '../../../src/fixer/renamed.js';

const hunk = (old: string[], now: string[], file = 'src/page.html') => ({ file, old, now });

describe('the new name in a change', () => {
  it.each([
    ['an attribute', ['<b data-testid="pay">'], ['<b data-testid="checkout-pay">'], 'pay', 'checkout-pay'],
    [
      'two attributes with the same name',
      ['<input id="pay" data-testid="pay">'],
      ['<input id="checkout-pay" data-testid="checkout-pay">'],
      'pay',
      'checkout-pay',
    ],
    ['a text', ['  <button>Sign in</button>'], ['<button>Log in</button>'], 'Sign in', 'Log in'],
    ['a text that got longer', ['<button>Pay</button>'], ['<button>Pay now</button>'], 'Pay', 'Pay now'],
    [
      'one of two changes in a line',
      ['<b class="small" data-testid="pay">Pay</b>'],
      ['<b class="large" data-testid="checkout-pay">Pay</b>'],
      'pay',
      'checkout-pay',
    ],
    [
      'a route',
      ["app.get('/api/orders/:id', show)"],
      ["app.get('/api/purchases/:id', show)"],
      '/api/orders',
      '/api/purchases',
    ],
    [
      'a column',
      ['  price_cents integer NOT NULL,'],
      ['  amount_cents integer NOT NULL,'],
      'price_cents',
      'amount_cents',
    ],
  ])('BF-2 BF-4 is found for %s', (_, before, after, old, to) => {
    expect(renamedIn([hunk(before, after)], old)).toEqual({ kind: 'renamed', to, file: 'src/page.html' });
  });

  const field = (id: string, testId: string) => `<input id="${id}" name="pay" data-testid="${testId}">`;

  it('BF-2 is found for one of several attributes with the same name', () => {
    const found = renamedIn([hunk([field('pay', 'pay')], [field('pay', 'checkout-pay')])], 'pay');
    expect(found).toEqual({ kind: 'renamed-in-part', to: 'checkout-pay', file: 'src/page.html' });
  });

  it.each([
    ['two of them became different names', [field('pay', 'pay')], [field('a', 'b')]],
    ['one moved to another line', [field('pay', 'pay')], [field('pay', 'x'), '<b id="pay">']],
    ['the line changed elsewhere, too', [field('pay', 'pay')], [`${field('pay', 'x')}<br>`]],
  ])('BF-2 is not given if %s', (_, old, now) => {
    expect(renamedIn([hunk(old, now)], 'pay').kind).toBe('ambiguous');
  });

  const routes = (...some: string[]) => some.map((one) => `if (path === '${one}') return { id: 7 };`);
  it.each([
    ['/api/orders', '/api/shop-orders'],
    ['/api/carts', '/api/shop-carts'],
  ])('BF-4 is the similar one in a block with removed and added lines: %s', (old, to) => {
    const block = hunk(
      routes('/api/orders', '/api/carts', '/api/gone'),
      routes('/api/shop-orders', '/api/shop-carts'),
    );
    expect(renamedIn([block], old)).toMatchObject({ kind: 'renamed', to });
    expect(renamedIn([block], '/api/gone').kind).toBe('removed');
  });

  it('BF-4 in such a block, is in a line without another change rather than in one that is partly similar', () => {
    const line = (path: string, field: string) => `if (path === '${path}') return { ${field}: { id: 7 } };`;
    const block = hunk(
      [line('/a', 'parcel'), line('/b', 'voucher'), line('/c', 'gone')],
      [line('/a', 'shipment'), line('/b', 'coupon')],
    );
    expect(renamedIn([block], 'parcel')).toMatchObject({ kind: 'renamed', to: 'shipment' });
  });

  it.each([
    ['removed', [hunk(['<b id="pay">Pay</b>'], [])], 'removed'],
    [
      'replaced by something else',
      [hunk(['<b id="pay">Pay</b>'], ['<total-price amount={sum} />'])],
      'removed',
    ],
    ['moved', [hunk(['<b id="pay">'], []), hunk([], ['  <b id="pay">'])], 'ambiguous'],
    [
      'given two names',
      [hunk(['<b id="pay">'], ['<b id="a">']), hunk(['<i id="pay">'], ['<i id="b">'])],
      'ambiguous',
    ],
    ['part of another word', [hunk(['<b id="pay-later">'], ['<b id="later">'])], 'unknown'],
  ])('BF-2 is not given for a name that was %s', (_, hunks, kind) => {
    expect(renamedIn(hunks, 'pay').kind).toBe(kind);
  });

  it('BF-4 is read from git’s output, including lines that look like its headers', () => {
    const diff = [
      'diff --git a/db/x.sql b/db/x.sql',
      '--- a/db/x.sql',
      '+++ b/db/x.sql',
      '@@ -1 +1,2 @@',
      '--- a comment of SQL',
      '+++ b',
      '+CREATE TABLE x;',
      'diff --git a/new.sql b/new.sql',
      'deleted file mode 100644',
      '--- a/new.sql',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      '\\ No newline at end of file',
      '* Unmerged path c.sql',
    ].join('\n');
    expect(hunksIn(diff)).toEqual([
      { file: 'db/x.sql', old: ['-- a comment of SQL'], now: ['++ b', 'CREATE TABLE x;'] },
      { file: 'new.sql', old: ['x'], now: [] },
    ]);
  });
});
