import { letters, planted, pseudoRandom, type Plant } from './plant.js';

const strong = (seed: number) => `Kn${pseudoRandom(18, letters, seed)}7q`;

/** Names of variables that say secret, each in one of the ways in which people shorten and count. */
const secretNames =
  `SMTP_PASS APP_KEY GITHUB_PAT ACCESS_TOKEN_2 PASSWORDS TOKENS DB_PWD REDIS_PW ADMIN_PASSWD JWT_SECRET_OLD
  COOKIE_SECRETS ENCRYPTION_KEY SIGNING_KEY_V2 HMAC_KEY MASTERKEY STRIPE_SK SENTRY_AUTH NPM_AUTH_TOKEN BASIC_AUTH API_CREDS
  SERVICE_ACCOUNT_CREDENTIALS WEBHOOK_SIG PASSPHRASE_1 SALT PEPPER TOTP_SEED CSRF_SECRET_KEY apiKeyStaging dbPassword2
  CLIENT_SECRET_ID_TOKEN PRIVATE_KEY_BASE64 LICENSE_KEYS BEARER SESSION_KEYS ACCOUNT_SID_TOKEN`.split(/\s+/);

const byName = secretNames.map((name, at) => ({ name, value: strong(at + 1) }));

/** What stands in the files of the project that hold variables: file → content. */
export const envFiles: Readonly<Record<string, string>> = {
  '.env': [
    ...byName.slice(0, 12).map(({ name, value }) => `${name}=${value}`),
    `BASE_PART=${strong(101)}`,
    'EXPANDED_TOKEN=${BASE_PART}/tail-9',
    'PWD=/home/ann/my shop/app',
    'APP_PORT=5173',
    'FEATURE_SECRET_SANTA=true',
    'TOKEN_URL=https://auth.shop.test/oauth/token',
    'PASSWORD_FILE=/run/secrets/db_password',
  ].join('\n'),
  '.env.local': [
    ...byName.slice(12, 20).map(({ name, value }) => `export ${name}='${value}'`),
    `QUOTED_SECRET="${strong(102)} with \\"quotes\\" & <marks> 100%"`,
    `SYMBOL_PASSWORD='p@ss/${pseudoRandom(10, letters, 103)}+w=rd&?#%!'`,
    `UMLAUT_PASSPHRASE="Grüße-${pseudoRandom(12, letters, 104)}-ß€"`,
    `MULTILINE_KEY="-----BEGIN X-----\n${pseudoRandom(48, letters, 105)}\n${pseudoRandom(48, letters, 106)}\n-----END X-----"`,
    'SHORT_PIN_SECRET=84h!2z',
    'WORDY_PASSWORD=swordfish',
  ].join('\n'),
  '.envrc': byName
    .slice(20, 26)
    .map(({ name, value }) => `export ${name}=${value}`)
    .join('\n'),
  '.dev.vars': byName
    .slice(26, 30)
    .map(({ name, value }) => `${name}="${value}"`)
    .join('\n'),
  'package.json': '{ "name": "shop", "workspaces": ["packages/*"] }',
  'packages/api/package.json': '{ "name": "api" }',
  'packages/api/.env': byName
    .slice(30)
    .map(({ name, value }) => `${name}=${value} # comment`)
    .join('\n'),
  'packages/api/.env.production': [
    `DATABASE_URL=postgres://app:${strong(107)}@db.shop.test:5432/shop?sslmode=require`,
    `OPAQUE=${pseudoRandom(40, letters, 108)}`,
  ].join('\n'),
};

/** What the environment of a run holds. */
export const environment: Readonly<Record<string, string>> = {
  PWD: '/home/ann/my shop/app',
  OLDPWD: '/home/ann',
  HOME: '/home/ann',
  CI_DEPLOY_PASSWORD: `${strong(111)}$x`,
  MYSQL_PWD: strong(112),
  VAULT_ADDR: 'https://vault.shop.test:8200',
  SSH_AUTH_SOCK: '/tmp/ssh-XYZ123/agent.42',
  KEYBOARD_LAYOUT: 'de-latin1-nodeadkeys',
  TOKENIZERS_PARALLELISM: 'false',
};

const values = {
  plain: strong(1),
  expanded: `${strong(101)}/tail-9`,
  quoted: `${strong(102)} with "quotes" & <marks> 100%`,
  symbols: `p@ss/${pseudoRandom(10, letters, 103)}+w=rd&?#%!`,
  umlauts: `Grüße-${pseudoRandom(12, letters, 104)}-ß€`,
  dollar: `${strong(111)}$x`,
} as const;

const each = (value: string, spell: (character: string) => string) => Array.from(value, spell).join('');
const code = (character: string) => character.charCodeAt(0).toString(16);

/** Ways in which programs write a text into another one. */
const spellings: Readonly<Record<string, (value: string) => string>> = {
  'as it is': (value) => value,
  'within a word': (value) => `x${value}y`,
  JSON: (value) => JSON.stringify({ note: value }),
  'JSON in JSON': (value) => JSON.stringify({ body: JSON.stringify({ note: value }) }),
  'JSON three deep': (value) => JSON.stringify(JSON.stringify(JSON.stringify({ note: value }))),
  'JSON of PHP': (value) => JSON.stringify({ note: value }).replaceAll('/', '\\/'),
  'JSON of Go': (value) =>
    JSON.stringify({ note: value }).replace(/[<>&]/g, (found) => `\\u00${code(found)}`),
  'ASCII JSON': (value) =>
    JSON.stringify({ note: value }).replace(/[^\x20-\x7e]/g, (found) => `\\u${code(found).padStart(4, '0')}`),
  'JSON, all escaped': (value) => `"${each(value, (one) => `\\u${code(one).padStart(4, '0')}`)}"`,
  URL: (value) => `/a?note=${encodeURIComponent(value)}`,
  'URL in a URL': (value) => `/a?next=${encodeURIComponent(`/b?note=${encodeURIComponent(value)}`)}`,
  'URL, all escaped': (value) =>
    `/a/${[...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`,
  form: (value) => new URLSearchParams({ note: value }).toString(),
  base64: (value) => `blob ${Buffer.from(value).toString('base64')} end`,
  'base64 at offset 1': (value) => `blob ${Buffer.from(`a${value}zz`).toString('base64')} end`,
  'base64url at offset 2': (value) => `blob ${Buffer.from(`ab${value}z`).toString('base64url')} end`,
  'base64 of JSON': (value) => `blob ${Buffer.from(`{"k":"${value}"}`).toString('base64')} end`,
  'base64 in lines': (value) =>
    Buffer.from(`some words before it: ${value} and after`).toString('base64').replace(/.{20}/g, '$&\n'),
  hex: (value) => `bytes ${Buffer.from(value).toString('hex')}`,
  HTML: (value) =>
    `<b>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')}</b>`,
  'HTML by number': (value) => `<b>${value.replace(/[^\w ]/gu, (one) => `&#${one.codePointAt(0)};`)}</b>`,
  'HTML by hex number': (value) =>
    `<b>${value.replace(/[^\w ]/gu, (one) => `&#x${one.codePointAt(0)?.toString(16)};`)}</b>`,
  'shell, single quotes': (value) => `run '${value.replaceAll("'", `'\\''`)}'`,
  'shell, backslashes': (value) => `run ${value.replace(/[^\w/.-]/g, '\\$&')}`,
  'shell, double quotes': (value) => `run "${value.replace(/["$`\\]/g, '\\$&')}"`,
  'colours within': (value) => `\u001b[32m${value.slice(0, 7)}\u001b[1;31m${value.slice(7)}\u001b[0m`,
  'cut over two lines': (value) => `it said ${value.slice(0, 12)}\n${value.slice(12)} at last`,
  'cut over indented lines': (value) => `  note: ${value.slice(0, 11)}\n        ${value.slice(11)}`,
  'a joined string': (value) => `const a = '${value.slice(0, 10)}' +\n  '${value.slice(10)}';`,
  'on a long line': (value) => `${'{"a":1},'.repeat(9000)}${value}${',{"b":2}'.repeat(2000)}`,
  'with what cannot be seen': (value) => `${value.slice(0, 6)}\u200b${value.slice(6)}`,
  'cut off': (value) => `it began ${value.slice(0, 16)}…`,
};

/** Every value in every spelling, and each of the names. */
export function knownPlants(): Plant[] {
  const spelled = Object.entries(values).flatMap(([shape, value]) =>
    Object.entries(spellings).map(([spelling, spell]) =>
      planted('known value', `${shape}, ${spelling}`, value, spell(value)),
    ),
  );
  const named = byName.map(({ name, value }) =>
    planted('variable of a file', name, value, `the log says ${value}, and more`),
  );
  const others = [
    planted(
      'known value',
      'key over lines',
      pseudoRandom(48, letters, 106),
      `line: ${pseudoRandom(48, letters, 106)}`,
    ),
    planted('known value', 'password in a URL', strong(107), `denied: app / ${strong(107)}`),
    planted(
      'known value',
      'random, without a name',
      pseudoRandom(40, letters, 108),
      `got ${pseudoRandom(40, letters, 108)}`,
    ),
    planted('known value', 'short, by its name', '84h!2z', 'typed 84h!2z into it'),
    planted('known value', 'a word, by its name', 'swordfish', 'typed swordfish into it'),
    planted('variable of the environment', 'MYSQL_PWD', strong(112), `with ${strong(112)}.`),
  ];
  return [...named, ...spelled, ...others];
}
