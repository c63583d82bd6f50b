import { describe, expect, it } from 'vitest';
import { cleanRequest } from '../../../src/evidence/clean-request.js';
import { MissingEvidence } from '../../../src/evidence/missing-evidence.js';
import { redactorOf } from '../../../src/secrets/redactor.js';
import { aRequest } from './rig/failures.js';

const secret = 'Hunter2-Planted.x9';

/** The headers as they leave, cleaned by a redactor that knows these values. */
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
  ])('EV-9 have nothing but a mask for a value of %s', (name) => {
    for (const value of [secret, 'short', `sid=${secret}; theme=dark`])
      expect(headersOf({ [name]: value }).headers[name]).toMatch(/^\[masked: [^\]]+\]$/);
  });

  it('EV-9 keep the rest of a value of another header in which a secret stands', () => {
    expect(headersOf({ location: `/in?token=${secret}&a=1`, accept: '*/*' }).headers).toEqual({
      location: '/in?token=[masked: token]&a=1',
      accept: '*/*',
    });
  });

  it('EV-9 have the mask that the same secret has elsewhere', () => {
    const { headers, redactor } = headersOf({ authorization: 'Bearer Wb7Tk29QmZx4Lp8R' });
    expect(redactor.clean('it said Wb7Tk29QmZx4Lp8R')).toBe(`it said ${headers['authorization']}`);
  });

  it('EV-9 are cleaned by who knows the values of this environment, and by nobody before', () => {
    // By itself, the part behind what cannot be seen looks like credentials; the rest would then be no known value any more.
    const value = 'KnOEh373941dcIxHWzR07q with "quotes"';
    const note = 'the credentials KnOEh3\u200b73941dcIxHWzR07q with "quotes"';
    const { headers } = headersOf({ 'x-note': note }, { A_SECRET: value });
    expect(headers['x-note']).not.toMatch(/KnOEh3|quotes/);
  });
});
