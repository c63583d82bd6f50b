import { describe, expect, it } from 'vitest';
import { isUnspoken } from '../../../src/secrets/letter-pairs.js';
import { pseudoRandom } from '../../rig/secrets/plant.js';

describe('isUnspoken', () => {
  it.each([
    'getByTestIdOrNull',
    'passwordConfirmation',
    'XMLHttpRequestEventTarget',
    'anmeldungMitPasswort',
    'useSearchParamsOrRedirect',
    'short',
    '',
  ])('EV-9 is false for words: %j', (text) => {
    expect(isUnspoken(text)).toBe(false);
  });

  it('EV-9 is true for 19 of 20 random strings of letters', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const generated = Array.from({ length: 400 }, (_, seed) => pseudoRandom(24, letters, seed + 1));
    expect(generated.filter(isUnspoken).length).toBeGreaterThanOrEqual(380);
  });
});
