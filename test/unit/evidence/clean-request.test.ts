import { describe, expect, it } from 'vitest';
import { cleanRequest, MissingEvidence } from '../../../src/evidence/bounded-text.js';
import { redactorOf } from '../../../src/secrets/redactor.js';
import { aRequest } from './rig/failures.js';

const secret = 'Hunter2-Planted.x9';

/** Cleans the headers with a redactor that knows these values. */
function headersOf(headers: Record<string, string>, known: Record<string, string> = {}) {
  const redactor = redactorOf(Object.entries(known).map(([name, value]) => ({ name, value })));
  const missing = new MissingEvidence((text) => redactor.clean(text));
  const clean = (requestHeaders: Record<string, string>) =>
    cleanRequest(aRequest({ requestHeaders }), missing).requestHeaders;
  return { headers: clean(headers), redactor };
}

describe('the headers of a request', () => {
  it.each([
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'Set-Cookie',
    'X-Api-Key',
    'apikey',
    'x-auth-token',
    'x-csrf-token',
  ])('EV-9 have only a mask as the value of %s', (name) => {
    for (const value of [secret, 'short', `sid=${secret}; theme=dark`])
      expect(headersOf({ [name]: value }).headers[name]).toMatch(/^\[masked: [^\]]+\]$/);
  });

  it('EV-9 keep the rest of another header’s value that contains a secret', () => {
    expect(headersOf({ location: `/in?token=${secret}&a=1`, accept: '*/*' }).headers).toEqual({
      location: '/in?token=[masked: token]&a=1',
      accept: '*/*',
    });
  });

  it('EV-9 have the same mask for a secret as other texts', () => {
    const { headers, redactor } = headersOf({ authorization: 'Bearer Wb7Tk29QmZx4Lp8R' });
    expect(redactor.clean('it said Wb7Tk29QmZx4Lp8R')).toBe(`it said ${headers['authorization']}`);
  });

  it('EV-9 are cleaned only by the redactor that knows the values of this environment', () => {
    // On its own, the part after the invisible character looks like credentials; the rest would then no longer be a known value.
    const value = 'KnOEh373941dcIxHWzR07q with "quotes"';
    const note = 'the credentials KnOEh3\u200b73941dcIxHWzR07q with "quotes"';
    const { headers } = headersOf({ 'x-note': note }, { A_SECRET: value });
    expect(headers['x-note']).not.toMatch(/KnOEh3|quotes/);
  });
});
