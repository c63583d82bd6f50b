import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { maskFilledText } from '../../../src/evidence/trace/masked-trace.js';
import { explainMissingFix, findFilesWithSecrets } from '../../../src/outputs/fix-file.js';
import { findSecretVariables } from '../../../src/secrets/known-values.js';
import {
  createRedactor,
  createSecretNamer,
  redact,
  createRedactorForValues,
} from '../../../src/secrets/redactor.js';
import { leaksOf, plants, variables } from '../../rig/secrets/plants.js';
import { tempDir } from '../../rig/temp-dir.js';

const redactor = createRedactorForValues(findSecretVariables(variables));
const secret = 'Hunter2-Planted.x9';
const token = plants.find(({ kind }) => kind === 'GitHub, in a sentence')?.value ?? '';
/** The text with masks that do not name their kind. */
const plain = (text: string) => text.replaceAll(/\[masked: [\w ]+\]/g, '<masked>');

describe('masking', () => {
  it.each([
    ['http://ann:§@localhost:3000/a', 'http://ann:<masked>@localhost:3000/a'],
    ['GET /a?x=1&access_token=§&y=2', 'GET /a?x=1&access_token=<masked>&y=2'],
    ['{"password":"§ \\"quoted\\" 1"}', '{"password":"<masked>"}'],
    ['"{\\"password\\":\\"§\\\\\\"x\\",\\"a\\":1}"', '"{\\"password\\":\\"<masked>\\",\\"a\\":1}"'],
    ['authorization: Bearer §, accept: */*', 'authorization: Bearer <masked>'],
    ['cookie: theme=dark; connect.sid=§; lang=de', 'cookie: theme=dark; connect.sid=<masked>; lang=de'],
    ['/a?next=%2Fb%3Ftoken%3D§%26x%3D1', '/a?next=%2Fb%3Ftoken%3D<masked>%26x%3D1'],
    ['<user>ann</user><password>§</password>', '<user>ann</user><password><masked></password>'],
    ["await page.getByLabel('Password').fill('§');", "await page.getByLabel('Password').fill('<masked>');"],
  ])('EV-9 leaves the rest of the text as it is: %s', (text, expected) => {
    expect(plain(redact(text.replace('§', secret)))).toBe(expected);
  });

  it('EV-9 masks the middle of a secret, and nothing before or after it', () => {
    const [first, second] = [token.slice(0, 20), token.slice(20)];
    expect(redact(`a \u001b[31m${first}\u001b[1m${second}\u001b[0m b`)).toBe(
      'a \u001b[31m[masked: github token]\u001b[0m b',
    );
    expect(redact(`[WebServer] got ${first}[WebServer] ${second} [x] y`)).toBe(
      '[WebServer] got [masked: github token] [x] y',
    );
    expect(redact(`["${encodeURIComponent('&')}${token}%26"]`)).toBe('["%26[masked: github token]%26"]');
  });

  it.each([
    ['a Buffer in JSON', (bytes: Buffer) => JSON.stringify(bytes, null, 2)],
    [
      'octal escapes',
      (bytes: Buffer) => Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
    ],
    [
      'base64 of UTF-16',
      (bytes: Buffer) => Buffer.from(`echo ${String(bytes)}!`, 'utf16le').toString('base64'),
    ],
  ])('EV-9 masks a known value in %s', (_, write) => {
    const known = createRedactorForValues([{ name: 'API_SECRET', value: secret }]);
    const masked = known.clean(`said ${write(Buffer.from(secret))} at last`);
    expect(masked).toContain('[masked: value of API_SECRET]');
    expect(masked.length).toBeLessThan(120);
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
  it('EV-9 masks tokens of more than a hundred newer kinds, each with a new redactor', () => {
    const tokens = plants.filter(({ kind }) => kind.includes('newer'));
    const out = tokens.filter(
      (plant) => leaksOf([plant], createRedactorForValues([]).clean(plant.text)).length > 0,
    );
    expect(tokens.length).toBeGreaterThan(330);
    expect(out.map(({ kind }) => kind)).toEqual([]);
  });

  it('EV-9 names the kind of secret in the mask', () => {
    expect(redactor.text(`it was ${variables.SHOP_DB_PASSWORD}.`)).toBe(
      'it was [masked: value of SHOP_DB_PASSWORD].',
    );
  });

  it.each([
    ['ordinary words', { DB_PASSWORD: 'postgres', API_TOKEN: 'test', SECRET: 'localhost', A_KEY: 'true' }],
    ['paths and URLs', { PASSWORD_STORE: '/home/ann/.password-store', SECRET: 'https://vault.test/v1' }],
    ['values with ordinary names', { HOME: '/home/ann', USER: 'annabelle-of-shop', TOKEN_URL: 'abc123def4' }],
  ])('EV-9 does not mask %s of variables', (_, values) => {
    const text = Object.values(values).join(' and ');
    expect(createRedactorForValues(findSecretVariables(values)).text(text)).toBe(text);
  });

  it('EV-9 masks the passwords in URLs of variables', () => {
    const knowing = createRedactorForValues(
      findSecretVariables({ DATABASE_URL: 'postgres://app:a@pw-x9x9x9@db/shop?by=x@y' }),
    );
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

  it('EV-9 masks a value everywhere once a text has shown that it is secret', () => {
    const fresh = createRedactorForValues([]);
    const value = 'q7Rk2vX9mT4bLw8Zc3Nd';
    const unsuspected = `order ${value} was sent`;
    expect(fresh.clean(unsuspected)).toBe(unsuspected);
    expect(fresh.clean(`password: ${value}`)).not.toContain(value);
    expect(fresh.clean(unsuspected)).not.toContain(value);
  });

  it('EV-9 learns text typed into secret fields, except words and short numbers', () => {
    const fresh = createRedactorForValues([]);
    const pageText = 'Velvet.Otter, 493021, incorrect, wrong password, 1234';
    expect(fresh.clean(pageText)).toBe(pageText);
    fresh.learn(['Velvet.Otter', '493021', 'incorrect', 'wrong password', '1234']);
    expect(fresh.clean(pageText)).toBe(
      '[masked: typed value], [masked: typed value 2], incorrect, wrong password, 1234',
    );
  });

  it('AG-9 leaves the session of an agent readable, unless it is a secret of the environment', () => {
    const fresh = createRedactorForValues([{ name: 'API_TOKEN', value: 'q7Rk2vX9mT4bLw8Zc3Nd' }]);
    const session = 'aba3ddf5-8182-49cf-8e34-b7df4894c89e';
    for (const id of [session, 'q7Rk2vX9mT4bLw8Zc3Nd']) {
      expect(fresh.clean(`{"sessionId": "${id}"}`)).not.toContain(id);
      fresh.exempt(id);
    }
    expect(fresh.clean(`{"sessionId": "${session}"}`)).toContain(session);
    expect(fresh.clean('q7Rk2vX9mT4bLw8Zc3Nd')).toBe('[masked: value of API_TOKEN]');
  });

  it('EV-9 masks a password of several words, but no sentence about one', () => {
    const body = (password: string) => JSON.stringify({ user: 'ann', password });
    for (const password of ['velvet otter climbs slowly', 'velvet otter'])
      expect(redactor.clean(body(password))).not.toContain('otter');
    for (const message of [
      'must have eight characters',
      'is too short',
      'Wrong user or password',
      'Too weak',
    ])
      expect(redactor.clean(body(message))).toBe(body(message));
  });

  it.each([
    ['its name behind its value', '<input value="§" type="hidden" name="csrf_token">'],
    ['its name in other words', '<input type="hidden" name="csrf_test_name" value="§">'],
    ['no quotes', '<input type=hidden name=csrf value=§>'],
    [
      'JSON around it',
      JSON.stringify({ html: '<meta content="x"><input value="§" type="hidden" id="_csrf">' }),
    ],
  ])('EV-9 masks the content of a hidden field that has %s', (_, tag) => {
    expect(plain(redact(tag.replace('§', secret)))).toBe(tag.replace('§', '<masked>'));
  });

  it('EV-9 masks state in base64 that holds a token, as apps keep it in local storage', () => {
    const stored = (state: object) => Buffer.from(JSON.stringify(state)).toString('base64');
    expect(plain(redact(`state: ${stored({ user: 'ann', refresh_token: secret })}!`))).toBe(
      'state: <masked>!',
    );
    const noFindings = `state: ${stored({ user: 'ann', theme: 'dark', items: [1, 2, 3], open: true })}!`;
    expect(redact(noFindings)).toBe(noFindings);
  });

  it('EV-9 masks text that a test types in a step, in any spelling', () => {
    const step = String.raw`fill("\u0076elvet \u006ftter")`;
    expect(maskFilledText(step, new Set(['velvet otter']))).toBe('fill("[masked: value]")');
    const twice = JSON.stringify({ log: step });
    expect(maskFilledText(twice, new Set(['velvet otter']))).not.toContain('u0076');
  });

  it('EV-9 masks the rest of a known value that was cut, but no text that only begins like it', () => {
    const value = 'Kn9Xw2Ce3VbT7qRf5Yh8Jm1Lp4';
    const knowing = createRedactorForValues([{ name: 'A_SECRET', value }]);
    for (const part of [value.slice(0, 14), value.slice(5, 20), value.slice(-13)])
      expect(knowing.clean(`it was ${part}…`)).toBe('it was [masked: value of A_SECRET]…');
    expect(knowing.clean(`it was ${value.slice(0, 8)}`)).toBe(`it was ${value.slice(0, 8)}`);
  });
});

const random = ['aB3dE6gH', '9jK2mN5p', 'Q8sT1vW4'].join('');
const password = ['Pl-anted', '77'].join('.');

async function redactorIn(files: Record<string, string>, folder = '.') {
  const root = tempDir();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  return createRedactor({ env: {}, projectRoot: path.join(root, folder) });
}

describe('the .env files of a project', () => {
  it('EV-9 mask each line of a value of several lines by itself', async () => {
    const lines = ['first of us', 'velvet-otter-9', 'Kappa river'];
    const redactor = await redactorIn({ '.env': `A_SECRET="${lines.join('\n')}"\n` });
    for (const line of lines) expect(redactor.text(`<${line}>`)).toBe('<[masked: value of A_SECRET]>');
  });

  it('EV-9 provide the secrets to mask, but not ordinary values', async () => {
    const env = `# shop\nDB_PASSWORD="${password}"\nSIGNING=${random}\nPORT=5432\nNODE_ENV=development\n`;
    const redactor = await redactorIn({ '.env': env });
    expect(redactor.text(`${password}, ${random}, 5432, development`)).toBe(
      '[masked: value of DB_PASSWORD], [masked: value of SIGNING], 5432, development',
    );
  });

  it.each(['swordfish', 'otter9', 'velvet otter', 'velvet otter climbs slowly', 'ann@mail.test', 'a+b=c/d!'])(
    'EV-9 mask %s, regardless of its variable’s name',
    async (value) => {
      const redactor = await redactorIn({ '.env': `GREETING='${value}'\n` });
      expect(redactor.text(`it was <${value}>`)).toBe('it was <[masked: value of GREETING]>');
    },
  );

  it.each([
    'otter',
    '/orders',
    './src/app',
    'https://shop.test/v1',
    'postgres://app@localhost:5432/shop',
    'http://localhost:3000,http://localhost:3001',
  ])('EV-9 do not mask %s, which gives nobody access', async (value) => {
    const redactor = await redactorIn({ '.env': `ADDRESS='${value}'\n` });
    const text = `GET ${value}/7, at http://localhost:3000/orders`;
    expect(redactor.text(text)).toBe(text);
  });

  it.each(['.env.local', '.env.production.local'])('EV-9 are also named %s', async (name) => {
    const redactor = await redactorIn({ [name]: `DB_PASSWORD=${password}` });
    expect(redactor.text(password)).toBe('[masked: value of DB_PASSWORD]');
  });

  it('EV-9 may be at the top of the repository too, but are not read above it', async () => {
    const files = {
      '.env': `OUTSIDE_TOKEN=${random}`,
      'repo/.git/HEAD': '',
      'repo/.env': `DB_PASSWORD=${password}`,
      'repo/apps/web/package.json': '{}',
    };
    const redactor = await redactorIn(files, 'repo/apps/web');
    expect(redactor.text(`${password} ${random}`)).toBe(`[masked: value of DB_PASSWORD] ${random}`);
  });

  it('EV-9 are ignored if they are samples, broken or folders', async () => {
    const redactor = await redactorIn({
      '.env.example': `DB_PASSWORD=${password}`,
      '.env.d/x': 'a folder',
      '.env': '\u0000=\n=== "',
    });
    expect(redactor.text(password)).toBe(password);
  });
});

it('EV-9 a fix is withheld for a known secret, and not for what looks like one', async () => {
  const value = 'Zk4pQ9vX2mB7tR1w';
  const secretsIn = await createSecretNamer({ env: { SESSION_SECRET: value }, projectRoot: null });
  const change = (file: string, line: string) =>
    `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-a\n+${line}\n`;
  const looks = change('src/auth.ts', "res.setHeader('Set-Cookie', `app.sid=s%3A${id}; Path=/`)");
  expect(redact(looks)).not.toBe(looks);
  expect(findFilesWithSecrets(looks + change('src/key.ts', `sign('${value}')`), secretsIn)).toEqual([
    'src/key.ts (value of SESSION_SECRET)',
  ]);
});

it('EV-9 the file of a fix that is withheld is named, though its name looks like a password', () => {
  const message = explainMissingFix(['packages/web-app/src/2fa/login-v2.ts (value of API_TOKEN)']);
  expect(redact(message)).toBe(message);
});

it('EV-9 a fix is not withheld for the plain words that a variable with an ordinary name holds', async () => {
  const root = tempDir();
  await writeFile(path.join(root, '.env'), 'TITLE=Velvet Otter\nSHOP_PASSWORD=Velvet Mink\n');
  const secretsIn = await createSecretNamer({ env: {}, projectRoot: root });
  expect(secretsIn('<h1>Velvet Otter</h1>')).toEqual([]);
  expect(secretsIn('<h1>Velvet Mink</h1>')).toEqual(['value of SHOP_PASSWORD']);
});
