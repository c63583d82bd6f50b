import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/core/normalise.js';
import { signatureOf, signedText } from '../../../src/core/signature.js';
import { anError, aTestFailure } from '../../rig/builders.js';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const sign = (message: string) => signatureOf({ project: 'shop', errorType: 'TypeError', message }, md5);

describe('ME-1 a signature', () => {
  it('ME-1 is project, type and the first 8 digits of the MD5 of the normalized message', () => {
    // RFC 1321, appendix A.5: MD5 ("abc") = 900150983cd24fb0d6963f7d28e17f72
    expect(sign('abc')).toBe('shop:TypeError:90015098');
  });

  it.each<[string, string, string]>([
    ['colors', '\u001b[31mno cart\u001b[39m', 'no cart'],
    ['a time', 'failed at 2024-05-06T07:08:09.123Z', 'failed at 2025-01-02T03:04:05.678Z'],
    ["a time of Go's log", '2026/11/23 23:56:21 migrate: no', '2026/12/01 04:05:06.123456 migrate: no'],
    [
      'the number of a thread of Rust',
      "thread '<unnamed>' (12745) panicked at src/a.rs:4:5",
      "thread '<unnamed>' (7) panicked at src/a.rs:4:5",
    ],
    ['the number of a goroutine', 'goroutine 35 [running]:', 'goroutine 7 [running]:'],
    [
      'process and thread of a JVM',
      'ERROR 4711 --- [nio-8080-exec-1] o.a.c.Cart : no',
      'ERROR 42 --- [nio-8080-exec-12] o.a.c.Cart : no',
    ],
    ['a time of day', 'at 07:08:09 no', 'at 21:18:19 no'],
    ['a duration', 'Timeout 5000ms exceeded', 'Timeout 30000ms exceeded'],
    ['a duration in seconds', 'waited 2.5s', 'waited 31s'],
    ['a port', 'at http://localhost:3000/cart', 'at http://localhost:4173/cart'],
    ['a port of an address', 'connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 127.0.0.1:49152'],
    [
      'a UUID',
      'no order 6f1c2a34-0b7d-4c11-9a52-3d1f5e7a9b10',
      'no order 0a9b8c7d-1111-4222-8333-444455556666',
    ],
    ['a hash', 'chunk 3f2a9b1c failed', 'chunk 9e8d7c6b failed'],
    ['a memory address', 'at 0x7ffee3', 'at 0x10ab'],
    ['a long number', 'order 1700000000123 is gone', 'order 1699999999999 is gone'],
    [
      'a folder',
      "Cannot find './a' in /home/ann/shop/src/cart.ts",
      "Cannot find './a' in /builds/7/shop/src/cart.ts",
    ],
    ['a folder in another script', 'in /home/josé/app/cart.ts', 'in /home/ann/app/cart.ts'],
    ['a Windows folder', 'in C:\\Users\\ann\\shop\\cart.ts', 'in D:\\a\\shop\\cart.ts'],
    [
      'how often Playwright tried',
      'Call log:\n  - waiting for locator\n  14 × locator resolved to <a>\n     - unexpected value "x"\n  - retrying click action, attempt #3\n    - waiting 100ms',
      'Call log:\n  - waiting for locator\n  2 × locator resolved to <a>\n     - unexpected value "x"\n',
    ],
    [
      'how often a line is repeated',
      'Call log:\n  - element is not visible\n  - retrying click action\n  - waiting 20ms\n  - element is not visible\n',
      'Call log:\n  - element is not visible\n',
    ],
  ])('ME-1 does not change with %s', (_, one, other) => {
    expect(sign(one)).toBe(sign(other));
  });

  it.each<[string, string, string]>([
    ['a property', "reading 'id'", "reading 'name'"],
    ['a small number', 'Expected: 2', 'Expected: 3'],
    ['a status', 'Request failed with status code 500', 'Request failed with status code 404'],
    ['a table', 'relation "orders" does not exist', 'relation "carts" does not exist'],
    ['a file', 'in /srv/shop/src/cart.ts', 'in /srv/shop/src/money.ts'],
    ['a path of the app', 'at http://localhost:3000/cart', 'at http://localhost:3000/orders'],
    ['a SQLSTATE', "code: '42501'", "code: '42P01'"],
    ['a locator', "waiting for locator('#a')", "waiting for locator('#b')"],
    ['a word', 'facade', 'decade'],
    ['the order of values', 'Expected: a\nReceived: b', 'Expected: b\nReceived: a'],
  ])('ME-1 changes with %s', (_, one, other) => {
    expect(sign(one)).not.toBe(sign(other));
  });

  it('ME-1 tells projects and types of error apart', () => {
    const of = (project: string, errorType: string) =>
      signatureOf({ project, errorType, message: 'no' }, md5);
    expect(new Set([of('a', 'Error'), of('b', 'Error'), of('a', 'TypeError')]).size).toBe(3);
  });

  it('ME-1 does not depend on any id, port, duration or time in the message', () => {
    const hex = fc.uuid();
    const port = fc.integer({ min: 1024, max: 65_535 });
    const when = fc.date({ noInvalidDate: true, min: new Date('2000-01-01'), max: new Date('2100-01-01') });
    const anything = fc.record({ hex, port, ms: fc.nat(), when, n: fc.integer({ min: 1, max: 99 }) });
    const message = ({
      hex,
      port,
      ms,
      when,
      n,
    }: {
      hex: string;
      port: number;
      ms: number;
      when: Date;
      n: number;
    }) =>
      `${when.toISOString()} GET http://127.0.0.1:${port}/orders/${hex} after ${ms}ms\nCall log:\n${'  - element is not stable\n'.repeat(n)}`;
    fc.assert(fc.property(anything, anything, (one, other) => sign(message(one)) === sign(message(other))));
  });

  it('ME-1 leaves plain words as they are, so that different ones stay different', () => {
    const word = fc.stringMatching(/^[g-z]{1,12}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        expect(normalise(words.join(' '))).toBe(words.join(' '));
      }),
    );
  });
});

describe('ME-1 the text that is signed', () => {
  const timeout = (log: string, head = 'TimeoutError: locator.click: Timeout 1000ms exceeded.') =>
    signedText(
      aTestFailure({ errors: [anError(`${head}\nCall log:\n  - waiting for locator('#buy')\n${log}`)] }),
    );
  const resolved = '    - locator resolved to <button id="buy">Buy</button>\n  - attempting click action\n';

  it.each([
    [
      'a state on the way',
      `${resolved}    - element is not stable\n    - element is not enabled\n`,
      `${resolved}    - element is not enabled\n`,
    ],
    [
      'a text on the way',
      '    - locator resolved to <p>Loading</p>\n    - unexpected value "Loading"\n    - locator resolved to <p>0</p>\n',
      '    - locator resolved to <p>0</p>\n',
    ],
  ])('ME-1 does not change with %s that only one run caught', (_, one, other) => {
    expect(timeout(one)).toBe(timeout(other));
  });

  it.each([
    ['whether the element was found', '', resolved],
    [
      'what covers it',
      `${resolved}    - <div id="veil"></div> intercepts pointer events\n`,
      `${resolved}    - <div id="ad"></div> intercepts pointer events\n`,
    ],
  ])('ME-1 changes with %s', (_, one, other) => {
    expect(timeout(one)).not.toBe(timeout(other));
  });
});
