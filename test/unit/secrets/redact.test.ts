import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNamedValues } from '../../../src/secrets/named-values.js';
import { redact } from '../../../src/secrets/redact.js';

const secret = 'Hunter2-Planted.x9';

/** The text with masks that do not name their kind. */
const plain = (text: string) => text.replaceAll(/\[masked: [a-z ]+\]/g, '<masked>');

describe('redact', () => {
  it.each([
    [
      'a URL with a password',
      `http://ann:${secret}@localhost:3000/a`,
      'http://ann:<masked>@localhost:3000/a',
    ],
    [
      'a password with an @',
      `postgres://app:${secret}@!@db:5432/shop`,
      'postgres://app:<masked>@db:5432/shop',
    ],
    ['a URL with a token for a user', 'https://0123456789abcdef@host/x', 'https://<masked>@host/x'],
    ['a query', `GET /a?x=1&access_token=${secret}&y=2`, 'GET /a?x=1&access_token=<masked>&y=2'],
    ['a query key', `https://maps.test/js?key=${secret}`, 'https://maps.test/js?key=<masked>'],
    [
      'a URL whose path is the secret',
      'secret: https://hooks.test/services/T0A1/x9Q2mZ7vL4kP',
      'secret: <masked>',
    ],
    [
      'a signed URL',
      `https://s3.test/o?X-Amz-Signature=${secret}`,
      'https://s3.test/o?X-Amz-Signature=<masked>',
    ],
    ['a form', `user=ann&password=${secret}`, 'user=ann&password=<masked>'],
    ['JSON', `{"user":"ann","password": "${secret}"}`, '{"user":"ann","password": "<masked>"}'],
    ['JSON with an escaped quote', `{"token":"a\\"${secret}","b":1}`, '{"token":"<masked>","b":1}'],
    ['truncated JSON', `{"clientSecret":"${secret}`, '{"clientSecret":"<masked>'],
    ['JSON with a number', '{"pin_token": 123456}', '{"pin_token": <masked>}'],
    [
      'JSON in JSON',
      `"{\\"apiKey\\":\\"${secret}\\",\\"a\\":1}"`,
      '"{\\"apiKey\\":\\"<masked>\\",\\"a\\":1}"',
    ],
    [
      'an object as Node prints it',
      `{ user: 'ann', refreshToken: '${secret}' }`,
      "{ user: 'ann', refreshToken: '<masked>' }",
    ],
    [
      'an object as Chromium prints it',
      `{user: ann, password: ${secret}}`,
      '{user: ann, password: <masked>}',
    ],
    ['a bearer token', `sent Bearer ${secret} to it`, 'sent Bearer <masked> to it'],
    ['a header line', `  - authorization: Basic ${secret}`, '  - authorization: Basic <masked>'],
    ['a cookie line', `set-cookie: sid=${secret}; Path=/`, 'set-cookie: sid=<masked>; Path=/'],
    ['a variable', `DATABASE_PASSWORD=${secret} npm start`, 'DATABASE_PASSWORD=<masked> npm start'],
    [
      'a connection string',
      `Server=db;User Id=sa;Password=${secret};`,
      'Server=db;User Id=sa;Password=<masked>;',
    ],
    ['a multipart form', `name="password"\n\n${secret}\n--x`, 'name="password"\n\n<masked>\n--x'],
    [
      'a typed password',
      `- textbox "Your password" [active]: ${secret}`,
      '- textbox "Your password" [active]: <masked>',
    ],
    ['a step', `Fill "${secret}" getByLabel('Password')`, `Fill "<masked>" getByLabel('Password')`],
    ['a JWT', 'it was eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.sig_nature here', 'it was <masked> here'],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----!', '<masked>!'],
  ])('EV-9 masks the secret in %s', (_, text, expected) => {
    expect(plain(redact(text))).toBe(expected);
  });

  it.each([
    'Error: Invalid password: too short',
    "Property 'token' is missing in type '{ id: string; }' but required in type '{ token: string; }'.",
    "Type '{ token: string | null; }' is not assignable",
    'SyntaxError: Unexpected token: }',
    'usage {"max_tokens":4096,"tokens":12}',
    `locator('input[name="password"]') resolved to 2 elements`,
    'Key (email)=(ann@shop.test) already exists.',
    'http://localhost:5173/src/app.ts?t=1700000000&import',
    'GET http://localhost:54321/rest/v1/orders?select=*&key=',
    'git+ssh://git@host/repo and postgres://app@localhost/shop',
    '{"password":null,"secret":false}',
    '- textbox "Name": Ann',
    'Warning: Each child in a list should have a unique "key" prop.',
    '[dotenv@17.2.3] injecting env (0) from .env -- tip: 🔑 add access controls to secrets: https://dotenvx.com/ops',
    'More about session secrets: https://owasp.org/Top10/A02_2021-Cryptographic_Failures/',
  ])('EV-9 leaves text without a secret alone: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  const carriers = [
    (value: string) => `http://u:${value}@host/`,
    (value: string) => `/a?token=${value}`,
    (value: string) => `{"password":"${value}"}`,
    (value: string) => `"{\\"password\\":\\"${value}\\"}"`,
    (value: string) => `authorization: Bearer ${value}`,
    (value: string) => `{user: ann, secret: ${value}}`,
    (value: string) => `API_KEY=${value}`,
  ];

  it('EV-9 never leaks a planted secret, whatever surrounds it', () => {
    const plain = fc
      .stringMatching(/^[A-Za-z0-9]{8,24}$/)
      .filter((text) => !/null|true|false|string|number/.test(text));
    fc.assert(
      fc.property(
        plain,
        fc.constantFrom(...carriers),
        fc.string(),
        fc.string(),
        (value, carry, before, after) => {
          const padded = `${before}\n${carry(`Zq${value}7`)}\n${after}`;
          expect(redact(padded)).not.toContain(`Zq${value}`);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('EV-9 masks a secret inside a name as well as the value of that name', () => {
    const once = redact('{"password":""} /a?token=0": http://u:@host/');
    expect(redact(once)).toBe(once);
    expect(redact('"x token=0abc password": hunter22')).toBe(
      '"x token=[masked: token] password": [masked: password]',
    );
  });

  it('EV-9 changes nothing the second time', () => {
    const piece = fc.oneof(fc.string(), ...carriers.map((carry) => fc.string().map(carry)));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        const once = redact(pieces.join(' '));
        expect(redact(once)).toBe(once);
      }),
      { numRuns: 1000 },
    );
  });

  it('EV-11 terminates on texts that are crafted to be slow', () => {
    const hostile = [
      'a',
      '"',
      '://',
      'a:',
      '"a":"',
      '\\"',
      'eyJ-',
      '{a: ',
      'token=',
      '-----BEGIN PRIVATE KEY-----',
      ' ',
      'password',
      'password.fill("',
      'name="password"',
      '"a\\',
      '%41',
      '?a=',
    ];
    for (const piece of hostile) {
      const text = piece.repeat(Math.floor((64 * 1024) / piece.length));
      expect(redact(text).length).toBeLessThan(text.length * 3);
    }
  });

  it('EV-11 takes no longer for a name in a long line than for one in a short line', () => {
    const timeFor = (end: string): number => {
      const text = `${`${'a '.repeat(500)}${end}`.repeat(1000)}${'a password '.repeat(4000)}`;
      const before = process.cpuUsage().user;
      expect(findNamedValues(text)).toEqual([]);
      return process.cpuUsage().user - before;
    };
    timeFor('\n');
    expect(timeFor(' ')).toBeLessThan(5 * timeFor('\n') + 200_000);
  });
});
