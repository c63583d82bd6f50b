import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadDetector, type Redactor, redactorOf } from '../../../src/secrets/redactor.js';
import { secretsAmong } from '../../../src/secrets/known-values.js';
import { ordinaryTexts, plantedSecrets, plantedVariables } from '../../rig/planted-secrets.js';

let redactor: Redactor;
beforeAll(async () => {
  redactor = redactorOf(secretsAmong(plantedVariables));
  await redactor.load();
});

describe('a redactor', () => {
  it('EV-9 is tested with at least forty kinds of secrets', () => {
    expect(new Set(plantedSecrets.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(40);
  });

  it.each(plantedSecrets)('EV-9 masks a secret of the kind $kind', ({ text, value }) => {
    expect(text).toContain(value.slice(0, 8));
    const masked = redactor.clean(text);
    expect(masked).not.toContain(value);
    expect(masked).toMatch(/\[masked: [^\]]+\]/);
    expect(redactor.clean(masked)).toBe(masked);
  });

  it.each(ordinaryTexts)('EV-9 leaves ordinary text alone: %s', (text) => {
    expect(redactor.clean(text)).toBe(text);
  });

  it('EV-9 says in the mask what it replaced', () => {
    const github = plantedSecrets[0]?.text ?? '';
    expect(redactor.text(github)).toBe('it sent [masked: github token] to them');
    expect(redactor.text(`it was ${plantedVariables.SHOP_DB_PASSWORD}.`)).toBe(
      'it was [masked: value of SHOP_DB_PASSWORD].',
    );
  });

  const spellings: readonly (readonly [string, (value: string) => string])[] = [
    ['as it is', (value) => value],
    ['within a word', (value) => `x${value}y`],
    ['in a URL', encodeURIComponent],
    ['in a form', (value) => new URLSearchParams({ a: value }).toString()],
    ['in JSON', (value) => JSON.stringify({ a: value })],
    ['in JSON in JSON', (value) => JSON.stringify(JSON.stringify({ a: value }))],
    ['in base64', (value) => Buffer.from(value).toString('base64')],
    ['in base64 after a user name', (value) => Buffer.from(`ann:${value}`).toString('base64')],
    ['in base64 between other values', (value) => Buffer.from(`anna:${value}:x`).toString('base64url')],
  ];
  it.each(spellings)('EV-9 masks the value of a secret variable %s', (_, spell) => {
    for (const [name, value] of Object.entries(plantedVariables)) {
      expect(redactor.text(`there is ${spell(value)}!`)).toContain(`[masked: value of ${name}]`);
    }
  });

  it.each([
    ['ordinary words', { DB_PASSWORD: 'postgres', API_TOKEN: 'test', SECRET: 'localhost', A_KEY: 'true' }],
    ['numbers', { PIN_TOKEN: '123456', PORT_SECRET: '5432' }],
    [
      'paths and URLs',
      { PASSWORD_STORE_DIR: '/home/ann/.password-store', SECRETS_URL: 'https://vault.test/v1' },
    ],
    ['values with ordinary names', { HOME: '/home/ann', USER: 'annabelle-of-shop', LANG: 'de_DE.UTF-8' }],
  ])('EV-9 leaves %s of variables alone', (_, variables) => {
    const lenient = redactorOf(secretsAmong(variables));
    const text = Object.values(variables).join(' and ');
    expect(lenient.text(text)).toBe(text);
  });

  it('EV-9 masks the passwords in URLs of variables', () => {
    const secret = ['pw', 'x9'.repeat(6)].join('-');
    const knowing = redactorOf(secretsAmong({ DATABASE_URL: `postgres://app:${secret}@db/shop` }));
    expect(knowing.text(`auth failed with ${secret}`)).toBe(
      'auth failed with [masked: value of DATABASE_URL]',
    );
    const withAt = redactorOf(secretsAmong({ DATABASE_URL: `postgres://app:a@${secret}@db/shop?by=x@y` }));
    expect(withAt.text(`auth failed with a@${secret}`)).toBe(
      'auth failed with [masked: value of DATABASE_URL]',
    );
  });

  it('EV-9 masks every string of plain data, and keys that contain secrets', () => {
    const { value } = plantedSecrets[0] ?? { value: '' };
    const masked = redactor.deep({ a: [{ b: `x ${value}` }], [value]: 1, n: null, t: true });
    expect(masked).toEqual({
      a: [{ b: 'x [masked: github token]' }],
      '[masked: github token]': 1,
      n: null,
      t: true,
    });
  });

  it('EV-9 leaks no planted secret in any context, and changes nothing the second time', () => {
    const planted = fc.constantFrom(...plantedSecrets);
    const around = fc.oneof(
      fc.constantFrom(...ordinaryTexts),
      fc.lorem(),
      fc.constantFrom('\n', ' ', '{}\n'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(around, planted), { minLength: 1, maxLength: 6 }), (pieces) => {
        const text = pieces.map(([before, secret]) => `${before}\n${secret.text}\n`).join('');
        const masked = redactor.clean(text);
        for (const [, secret] of pieces) expect(masked).not.toContain(secret.value);
        expect(redactor.clean(masked)).toBe(masked);
      }),
      { numRuns: 300 },
    );
  });

  it('EV-9 ignores a text that tells the detector to be silent', async () => {
    const detect = await loadDetector();
    const { text, value } = plantedSecrets[0] ?? { text: '', value: '' };
    const silenced = `/* secretlint-disable */ ${text}`;
    const start = silenced.indexOf(value);
    expect(detect(silenced)).toContainEqual({ start, end: start + value.length, kind: 'github token' });
  });

  it('EV-9 uses the detector once it is loaded, and not before (CL-4)', async () => {
    const found = redactorOf([], async () => (text) => {
      const start = text.indexOf('weird');
      return start < 0 ? [] : [{ start, end: start + 5, kind: 'weird key' }];
    });
    expect(found.text('a weird one')).toBe('a weird one');
    await found.load();
    expect(found.text('a weird one')).toBe('a [masked: weird key] one');
  });
});

describe('overlapping secrets', () => {
  const known = 'Kn9Xw2Ce3VbT7q with "quotes" & <marks>';
  const part = 'Xw2Ce3VbT7qAbc12';

  it.each([
    ['is a part of that', known.slice(2, 14) + 'x9K2'],
    ['begins before that and ends in it', `Zz81Yk4Kn9Xw2Ce3V`],
  ])('EV-9 leave nothing of a known value if a learned one %s', (_, learned) => {
    const knowing = redactorOf([{ name: 'A_SECRET', value: known }]);
    expect(knowing.clean(`authorization: Bearer ${learned}`)).not.toContain(learned);
    const overlapping = learned.startsWith('Zz') ? `Zz81Yk4${known}` : known;
    expect(knowing.clean(`it was ${overlapping}.`)).toMatch(/^it was \[masked: [^\]]+\]\.$/);
  });

  it('EV-9 are masked once another text has shown that they are secret', () => {
    const fresh = redactorOf([]);
    const value = 'q7Rk2vX9mT4bLw8Zc3Nd';
    const plain = `order ${value} was sent`;
    expect(fresh.clean(plain)).toBe(plain);
    expect(fresh.clean(`password: ${value}`)).not.toContain(value);
    expect(fresh.clean(plain)).not.toContain(value);
  });

  it('EV-9 are both masked if one ends with the start of the other', () => {
    const knowing = redactorOf([
      { name: 'ONE_SECRET', value: `aB3dE5gH7${part.slice(0, 8)}` },
      { name: 'OTHER_SECRET', value: part },
    ]);
    expect(knowing.clean(`it was aB3dE5gH7${part}.`)).toMatch(/^it was \[masked: [^\]]+\]\.$/);
  });

  it.each([
    ['a title', 'output/a-signs-in-with-Kn9Xw2Ce3VbT7q-with-quotes-marks-/trace.zip'],
    ['a shortened title', 'output/a-signs-in-with-Kn9Xw2Ce3V-b97ea-T7qBc8Df4Gh-chromium/trace.zip'],
  ])('EV-9 are masked in the file name that Playwright makes of %s', (_, file) => {
    const knowing = redactorOf([{ name: 'A_SECRET', value: known }]);
    expect(knowing.clean(file)).toMatch(
      /^output\/a-signs-in-with-\[masked: [^\]]+\](?:-b97ea-\[masked: [^\]]+\]-chromium)?\/trace\.zip$/,
    );
  });
});
