import { describe, expect, it } from 'vitest';
import { secretsAmong } from '../../../src/secrets/known-values.js';
import { redact, redactorOf } from '../../../src/secrets/redactor.js';
import { leaksOf, plants, variables } from '../../rig/secrets/plants.js';

const redactor = redactorOf(secretsAmong(variables));
const secret = 'Hunter2-Planted.x9';
const token = plants.find(({ kind }) => kind === 'GitHub, in a sentence')?.value ?? '';
/** The text with masks that do not name their kind. */
const plain = (text: string) => text.replaceAll(/\[masked: [\w ]+\]/g, '<masked>');

describe('masking', () => {
  it.each([
    ['http://ann:§@localhost:3000/a', 'http://ann:<masked>@localhost:3000/a'],
    ['postgres://app:§@!@db:5432/shop', 'postgres://app:<masked>@db:5432/shop'],
    ['GET /a?x=1&access_token=§&y=2', 'GET /a?x=1&access_token=<masked>&y=2'],
    ['{"user":"ann","password":"§"}', '{"user":"ann","password":"<masked>"}'],
    ['{"password":"§ \\"quoted\\" 1"}', '{"password":"<masked>"}'],
    ['"{\\"password\\":\\"§\\\\\\"x\\",\\"a\\":1}"', '"{\\"password\\":\\"<masked>\\",\\"a\\":1}"'],
    ['authorization: Bearer §, accept: */*', 'authorization: Bearer <masked>'],
    ['"authorization": "Bearer §", "a": 1', '"authorization": "Bearer <masked>", "a": 1'],
    ['cookie: theme=dark; connect.sid=§; lang=de', 'cookie: theme=dark; connect.sid=<masked>; lang=de'],
    ['set-cookie: sid=§; Path=/; HttpOnly', 'set-cookie: sid=<masked>; Path=/; HttpOnly'],
    ['user=ann&password=§&remember=1', 'user=ann&password=<masked>&remember=1'],
    ['/a?next=%2Fb%3Ftoken%3D§%26x%3D1', '/a?next=%2Fb%3Ftoken%3D<masked>%26x%3D1'],
    ['<user>ann</user><password>§</password>', '<user>ann</user><password><masked></password>'],
    ["await page.getByLabel('Password').fill('§');", "await page.getByLabel('Password').fill('<masked>');"],
  ])('EV-9 leaves the rest of the text as it is: %s', (text, expected) => {
    expect(plain(redact(text.replace('§', secret)))).toBe(expected);
  });

  it('EV-9 covers what stands in the middle of a secret, and nothing before or behind it', () => {
    const [first, second] = [token.slice(0, 20), token.slice(20)];
    expect(redact(`a \u001b[31m${first}\u001b[1m${second}\u001b[0m b`)).toBe(
      'a \u001b[31m[masked: github token]\u001b[0m b',
    );
    expect(redact(`[WebServer] got ${first}[WebServer] ${second} [x] y`)).toBe(
      '[WebServer] got [masked: github token] [x] y',
    );
    expect(redact(`["${encodeURIComponent('&')}${token}%26"]`)).toBe('["%26[masked: github token]%26"]');
  });

  it('EV-9 is not silenced by a text that tells the detector to be silent', () => {
    expect(redact(`/* secretlint-disable */ ${token}`)).toBe(
      '/* secretlint-disable */ [masked: github token]',
    );
  });

  it('EV-9 masks a secret inside a name as well as the value of that name', () => {
    const once = redact('"x token=0abc12 password": hunter22');
    expect(once).toBe('"x token=[masked: token] password": [masked: password]');
    expect(redact(once)).toBe(once);
  });

  it('EV-11 terminates on texts that are crafted to be slow', () => {
    const pieces =
      'a " :// a: "a":" \\" eyJ- token= password name="password" "a\\ %41 ?a= %25 \\ "token":" &amp;'.split(
        ' ',
      );
    const more = [
      '-----BEGIN PRIVATE KEY-----',
      ' ',
      '[a] ',
      'password.fill("',
      'cookie: a=b; ',
      'cookie=a; ',
    ];
    for (const piece of [...pieces, ...more]) {
      const text = piece.repeat(Math.floor((64 * 1024) / piece.length));
      expect(redact(text).length).toBeLessThan(text.length * 3);
    }
  });
});

describe('a redactor', () => {
  it('EV-9 says in the mask what it replaced', () => {
    expect(redactor.text(`it was ${variables.SHOP_DB_PASSWORD}.`)).toBe(
      'it was [masked: value of SHOP_DB_PASSWORD].',
    );
  });

  it.each([
    ['ordinary words', { DB_PASSWORD: 'postgres', API_TOKEN: 'test', SECRET: 'localhost', A_KEY: 'true' }],
    ['numbers', { PIN_TOKEN: '123456', PORT_SECRET: '5432' }],
    ['paths and URLs', { PASSWORD_STORE: '/home/ann/.password-store', SECRET: 'https://vault.test/v1' }],
    ['values with ordinary names', { HOME: '/home/ann', USER: 'annabelle-of-shop', TOKEN_URL: 'abc123def4' }],
  ])('EV-9 leaves %s of variables alone', (_, values) => {
    const text = Object.values(values).join(' and ');
    expect(redactorOf(secretsAmong(values)).text(text)).toBe(text);
  });

  it('EV-9 masks the passwords in URLs of variables', () => {
    const knowing = redactorOf(secretsAmong({ DATABASE_URL: 'postgres://app:a@pw-x9x9x9@db/shop?by=x@y' }));
    expect(knowing.text('failed with a@pw-x9x9x9')).toBe('failed with [masked: value of DATABASE_URL]');
  });

  it('EV-9 masks every string of plain data, and keys that contain secrets', () => {
    expect(redactor.deep({ a: [{ b: `x ${token}` }], [token]: 1, n: null, t: true })).toEqual({
      a: [{ b: 'x [masked: github token]' }],
      '[masked: github token]': 1,
      n: null,
      t: true,
    });
  });

  it('EV-9 has the same mask for every spelling of a secret, and another for another secret', () => {
    const value = 'Wb7Tk29QmZx4Lp8R';
    const texts = [
      `authorization: Bearer ${value}`,
      JSON.stringify({ accessToken: value }),
      `/a?token=${value}`,
      `and ${value} by itself`,
      `and in base64 ${Buffer.from(value).toString('base64')}`,
    ];
    const masks = texts.map((text) => /\[masked: [^\]]+\]/.exec(redactor.clean(text))?.[0]);
    expect(new Set(masks)).toEqual(new Set([masks[0]]));
    expect(redactor.clean('authorization: Bearer Nc3Vh81Ws5Jd0Fg6')).not.toContain(masks[0]);
  });

  it('EV-9 masks a value everywhere once a text has shown that it is secret, also in texts that it has cleaned', () => {
    const fresh = redactorOf([]);
    const value = 'q7Rk2vX9mT4bLw8Zc3Nd';
    const unsuspected = `order ${value} was sent`;
    expect(fresh.clean(unsuspected)).toBe(unsuspected);
    expect(fresh.clean(`password: ${value}`)).not.toContain(value);
    expect(fresh.clean(unsuspected)).not.toContain(value);
  });

  it('EV-9 masks what is left of a known value that somebody cut, and nothing that only begins like one', () => {
    const value = 'Kn9Xw2Ce3VbT7qRf5Yh8Jm1Lp4';
    const knowing = redactorOf([{ name: 'A_SECRET', value }]);
    for (const part of [value.slice(0, 14), value.slice(5, 20), value.slice(-13)])
      expect(knowing.clean(`it was ${part}…`)).toBe('it was [masked: value of A_SECRET]…');
    expect(knowing.clean(`it was ${value.slice(0, 8)}`)).toBe(`it was ${value.slice(0, 8)}`);
  });

  it('EV-9 masks two values of which one ends with the start of the other', () => {
    const part = 'Xw2Ce3VbT7qAbc12';
    const knowing = redactorOf([
      { name: 'ONE_SECRET', value: `aB3dE5gH7${part.slice(0, 8)}` },
      { name: 'OTHER_SECRET', value: part },
    ]);
    expect(knowing.clean(`it was aB3dE5gH7${part}.`)).toMatch(/^it was \[masked: [^\]]+\]\.$/);
  });

  it('EV-9 leaves nothing of a known value in the shortened file name that Playwright makes of a title', () => {
    const value = 'Kn9Xw2Ce3VbT7q with "quotes" & <Bc8Df4Gh2Jk6Mn>';
    const file = 'output/a-signs-in-with-Kn9Xw2Ce3VbT-b97ea-Bc8Df4Gh2Jk6Mn-chromium/trace.zip';
    const masked = redactorOf([{ name: 'A_SECRET', value }]).clean(file);
    expect(
      leaksOf(
        [
          { kind: '', value: 'Kn9Xw2Ce3VbT7q' },
          { kind: '', value: 'Bc8Df4Gh2Jk6Mn' },
        ],
        masked,
      ),
    ).toEqual([]);
    expect(masked).toMatch(/^output\/a-signs-in-with-.*-b97ea-.*-chromium\/trace\.zip$/);
  });
});
