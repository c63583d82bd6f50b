import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize } from '../../../src/diagnose/normalize.js';
import { createSignature, selectTextToHash } from '../../../src/diagnose/signature.js';
import { anError, aTestFailure } from '../../rig/builders.js';
import { jsonLines } from '../../rig/json-lines.js';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const sign = (message: string) => createSignature({ project: 'shop', errorType: 'TypeError', message }, md5);

describe('ME-1 a signature', () => {
  it('ME-1 is project, type and the first 8 digits of the MD5 of the normalized message', () => {
    // RFC 1321, appendix A.5: MD5 ("abc") = 900150983cd24fb0d6963f7d28e17f72
    expect(sign('abc')).toBe('shop:TypeError:90015098');
  });

  const pairs = jsonLines<{ what: string; same: boolean; one: string; other: string }>(
    import.meta.dirname,
    'signatures.jsonl',
  );
  it.each(pairs)('ME-1 is the same with another value of $what: $same', ({ same, one, other }) => {
    expect(sign(one) === sign(other)).toBe(same);
  });

  it('ME-1 does not depend on any id, port, duration or time in the message', () => {
    const when = fc.date({ noInvalidDate: true, min: new Date('2000-01-01'), max: new Date('2100-01-01') });
    const anything = fc.tuple(
      when,
      fc.integer({ min: 1024, max: 65_535 }),
      fc.uuid(),
      fc.nat(),
      fc.integer({ min: 1, max: 99 }),
    );
    const message = ([at, port, id, ms, n]: [Date, number, string, number, number]) =>
      `${at.toISOString()} GET http://127.0.0.1:${port}/orders/${id} after ${ms}ms\nCall log:\n${'  - element is not stable\n'.repeat(n)}`;
    fc.assert(
      fc.property(anything, anything, (first, other) => sign(message(first)) === sign(message(other))),
    );
  });

  it('ME-1 leaves plain words as they are, so that different ones stay different', () => {
    const word = fc.stringMatching(/^[g-z]{1,12}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        expect(normalize(words.join(' '))).toBe(words.join(' '));
      }),
    );
  });
});

describe('ME-1 the text that is signed', () => {
  const timeout = (log: string, head = 'TimeoutError: locator.click: Timeout 1000ms exceeded.') =>
    selectTextToHash(
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
  ])('ME-1 does not change with %s that only one run caught', (_, first, other) => {
    expect(timeout(first)).toBe(timeout(other));
  });

  it.each([
    ['whether the element was found', '', resolved],
    [
      'the element that covers it',
      `${resolved}    - <div id="veil"></div> intercepts pointer events\n`,
      `${resolved}    - <div id="ad"></div> intercepts pointer events\n`,
    ],
  ])('ME-1 changes with %s', (_, first, other) => {
    expect(timeout(first)).not.toBe(timeout(other));
  });
});
