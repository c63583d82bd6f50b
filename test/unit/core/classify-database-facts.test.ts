import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import { failing, locatorTimeout, logged, request } from './classify-evidence.js';

// What each database's messages name is in recorded-failures.jsonl.
describe('EV-5 database facts', () => {
  const message =
    '{"code":"23505","message":"duplicate key value violates unique constraint \\"orders_number_key\\""}';
  it.each([
    ['the error', failing(message)],
    ['the console', failing(locatorTimeout, { console: [logged(message)] })],
    ['the body of a response', failing(locatorTimeout, { network: [request({ responseBody: message })] })],
    ['the output of the server', failing(locatorTimeout, { serverOutput: `[WebServer] ${message}` })],
  ])('EV-5 finds them in %s', (_, evidence) => {
    const { category, facts } = classify(evidence);
    expect(category).toBe('database-error');
    expect(facts).toMatchObject({ sqlState: '23505', constraint: 'orders_number_key' });
  });

  const missing = 'error: column "vat" of relation "orders" does not exist';
  it.each([
    ['about the same', `${missing}\n  code: '42703',`, '42703'],
    [
      'that followed from it',
      "error: terminating connection due to administrator command\n  code: '57P01',",
      null,
    ],
  ])('EV-5 adds what the server printed of an error %s', (_, serverOutput, sqlState) => {
    const { facts } = classify(failing(missing, { serverOutput, pageUrl: null }));
    expect(facts).toMatchObject({ sqlState, table: 'orders', column: 'vat' });
  });
});
