import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { secretsAmong, secretsOfEnvFiles } from '../../../src/secrets/known-values.js';
import { type Redactor, redactorOf } from '../../../src/secrets/redactor.js';

/** A secret that nobody ever used, in one of the ways in which it is written. */
export interface Plant {
  readonly kind: string;
  /** What may not be read in what leaves. Eight characters of it in a row count; a shorter value counts as a whole. */
  readonly value: string;
  readonly text: string;
}

const alphabets = {
  a: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  w: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  l: 'abcdefghijklmnopqrstuvwxyz0123456789',
  u: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  h: '0123456789abcdef',
  d: '0123456789',
} as const;

/** Always the same characters for the same seed, mixed as a generator mixes them (xorshift). */
function pseudoRandom(length: number, from: string, seed: number): string {
  let state = (seed * 2_654_435_761 + 97) >>> 0 || 1;
  return Array.from({ length }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return from[state % from.length];
  }).join('');
}

/** `ab_{a36}` → `ab_` and 36 letters and digits: no scanner takes this file for a leak. */
function made(shape: string, seed: number): string {
  let part = seed;
  return shape.replace(/\{(\w)(\d+)\}/g, (_, alphabet: keyof typeof alphabets, length: string) =>
    pseudoRandom(Number(length), alphabets[alphabet], (part += 1000)),
  );
}

/** The lines of a table: `name: the rest`. `⏎` stands for a line break, `␛` for the escape character, `◌` for a space without width. */
const rowsOf = (table: string): readonly (readonly [name: string, rest: string])[] =>
  table
    .trim()
    .split('\n')
    .map((line) => {
      const at = line.indexOf(': ');
      return [
        line.slice(0, at),
        line
          .slice(at + 2)
          .replaceAll('⏎', '\n')
          .replaceAll('␛', '\u001b')
          .replaceAll('◌', '\u200b'),
      ];
    });

/** The form of the tokens of each issuer. What is said to be newer came with secretlint 13, or is no issuer's that it knows. */
const tokens = rowsOf(String.raw`
GitHub: ghp_{a36}
GitHub OAuth: gho_{a36}
GitHub user: ghu_{a36}
GitHub app: ghs_{a36}
GitHub refresh: ghr_{a36}
GitHub fine-grained: github_pat_{a22}_{a59}
GitHub app, newer: ghs_{d9}_eyJ{a33}.eyJ{a60}.{a43}
GitLab, newer: glpat-{a20}
GitLab, routable, newer: glpat-{a27}.01.{l9}
Slack bot: xoxb-{d12}-{d12}-{a24}
Slack app: xapp-1-A{u10}-{d13}-{h64}
Slack webhook: https://hooks.slack.com/services/T{u10}/B{u10}/{a24}
OpenAI: sk-{a20}T3BlbkFJ{a20}
OpenAI project: sk-proj-{a74}T3BlbkFJ{a74}
OpenAI service account: sk-svcacct-{a58}T3BlbkFJ{a58}
Anthropic: sk-ant-api03-{a93}AA
SendGrid: SG.{a22}.{a43}
Shopify admin: shpat_{h32}
Shopify custom: shpca_{h32}
Shopify private: shppa_{h32}
Shopify shared: shpss_{h32}
Linear: lin_api_{a40}
npm: npm_{a36}
Stripe, newer: sk_live_{a24}
Stripe, long, newer: sk_test_51{a97}
Stripe restricted, newer: rk_live_{a24}
Grafana cloud, newer: glc_eyJ{a120}
Grafana service account, newer: glsa_{a32}_{h8}
Groq, newer: gsk_{a52}
Hugging Face, newer: hf_{w34}
Notion, newer: ntn_{d11}{a35}
Vault service, newer: hvs.{a92}
Vault batch, newer: hvb.{a140}
Vault recovery, newer: hvr.{a92}
Vercel, newer: vcp_{a40}
Vercel integration, newer: vci_{a40}
Vercel app, newer: vca_{a40}
Vercel gateway, newer: vck_{a40}
Databricks, newer: dapi{h32}
Databricks, numbered, newer: dapi{h32}-2
Docker, newer: dckr_pat_{a27}
Figma, newer: figd_{a40}
Cloudflare key, newer: cfk_{a40}{h8}
Cloudflare user, newer: cfut_{a40}{h8}
Cloudflare account, newer: cfat_{a40}{h8}
Tailscale, newer: tskey-api-k{a11}CNTRL-{a32}
Tailscale login, newer: tskey-auth-k{a11}CNTRL-{a32}
Tailscale client, newer: tskey-client-k{a11}CNTRL-{a32}
Doppler personal, newer: dp.pt.{a43}
Doppler service, newer: dp.st.dev_main.{a43}
Doppler account, newer: dp.sa.{a43}
Doppler CLI, newer: dp.ct.{a43}
Render, newer: rnd_{a28}
JWT: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{a48}.{a43}
JWE, newer: eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.{a171}.{a16}.{a86}.{a22}
JWE without a key, newer: eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..{a16}.{a120}.{a22}
Google key: AIza{a35}
Google OAuth: ya29.{a60}
Google client: GOCSPX-{a28}
Supabase, newer: sb_secret_{a31}
Supabase account, newer: sbp_{h40}
Stripe webhook, newer: whsec_{a32}
PlanetScale, newer: pscale_tkn_{a43}
Netlify, newer: nfp_{a36}
xAI, newer: xai-{a80}
Perplexity, newer: pplx-{a48}
Resend, long, newer: re_{a40}
Fly.io, newer: fm2_{a120}
`);

/** What surrounds a token that stands by itself; `§` is the token. A token in two parts is `‹` and `›`. */
const around = rowsOf(String.raw`
in a sentence: it sent § to them
in quotes: use("§")
behind a colon: got:§
at the end of a line: line of §⏎next
in JSON: {"note":"§"}
in JSON in JSON: "{\"note\":\"§\"}"
in a URL: /a?x=§&b=1
in colours: ␛[31m§␛[39m
in two colours: ␛[2m‹␛[0;1m›␛[0m
as a program escapes colours: {"log":"\u001b[31m§\u001b[0m"}
behind a changed line's sign: @@ -1 +1 @@⏎-x⏎+␛[31m§␛[0m
behind an invisible character: see ◌§◌.
in a split write: [WebServer] got ‹[WebServer] ›⏎
in a split write, dim: ␛[2m[WebServer] ␛[22mgot ‹␛[2m[WebServer] ␛[22m›⏎
in a split write of a named server: [Shop API 2] got ‹[Shop API 2] ›⏎
`);

/** Where a secret stands that has no form of its own. */
const places = rowsOf(String.raw`
header in a call log: - → POST http://shop.test/pay⏎  -   authorization: Bearer §⏎  -   accept: */*
header of a token: Authorization: Token §
header in upper case: AUTHORIZATION: BEARER §
header without a scheme: authorization: §
header of axios: AxiosHeaders { 'Content-Type': 'json', Authorization: 'Bearer §' }
header of Ruby: {"HTTP_AUTHORIZATION"=>"Bearer §"}
header of Go: map[Accept:[*/*] Authorization:[Bearer §]]
header of Python: [('Authorization', 'Bearer §'), ('Accept', '*/*')]
raw headers: ["Host","shop.test","Authorization","Bearer §"]
raw headers of Node: rawHeaders: [ 'Host', 'shop.test', 'X-Api-Key', '§' ]
digest: Authorization: Digest username="ann", response="§"
AWS signature: Authorization: AWS4-HMAC-SHA256 Credential=x/20261121/eu/s3/aws4_request, Signature=§
key in a header: > X-Api-Key: §
keys in a list: {"headers":{"x-auth-token":["§"]}}
header of a HAR: {"name":"X-Api-Key","value":"§"}
header of gRPC: UNAUTHENTICATED: Metadata(authorization=Bearer §,user-agent=grpc-java)
header of curl: curl -H 'X-Api-Key: §' https://shop.test
header of fetch: fetch(url, { headers: { 'X-Auth-Token': '§' } })
header of PowerShell: -Headers @{⏎  "Authorization"="Bearer §"⏎}
bearer in a sentence: sent with Bearer § to it
cookie: cookie: theme=dark; connect.sid=s%3A§.sig; lang=de
set cookie: set-cookie: __Host-session=§; Path=/; HttpOnly; Secure
cookies of pino: {"res":{"headers":{"set-cookie":["theme=dark; Path=/","sid=§; Path=/; HttpOnly"]}}}
cookie in the console: document.cookie = "auth_token=§; path=/"
cookie of curl: curl -b 'sid=§' http://shop.test
cookie of a storage state: {"cookies":[{"name":"x","value":"§","domain":"shop.test","path":"/"}]}
cookie of Playwright: await context.addCookies([{ name: 'sid', value: '§', url: 'http://shop.test' }]);
cookie of Next: [ { name: 'auth_token', value: '§' }, { name: 'theme', value: 'dark' } ]
password in a URL: https://ann:§@shop.test/
token in a URL: git clone https://§@github.com/shop/shop.git
password of PostgreSQL: postgres://app:§@db.test:5432/shop
password of Redis: redis://:§@cache.test:6379/0
password with an @: postgres://shop:Grat@§@db:5432/shop
password of JDBC: jdbc:postgresql://db.test/shop?user=app&password=§
password of ADO.NET: Server=db;User Id=sa;Pwd=§;TrustServerCertificate=True
key of Azure: AccountName=shop;AccountKey=§==;EndpointSuffix=core.windows.net
query: GET /callback?state=1&access_token=§
fragment: http://shop.test/#access_token=§&token_type=bearer
OAuth code: https://shop.test/callback?code=§&state=1
key of a query: https://maps.test/js?v=3&key=§
URL in a URL: /login?next=http%3A%2F%2Fapp.test%2Fcb%3Faccess_token%3D§%26x%3D1
URL in HTML: <a href="/a?b=1&amp;token=§&amp;c=2">
magic link: http://shop.test/auth/confirm?token_hash=§&type=email
signed by AWS: https://b.s3.test/o?X-Amz-Date=20260101&X-Amz-Signature=§
signed by Azure: https://shop.blob.test/c?sv=2024-01-01&sig=§
session in a path: GET /cart;jsessionid=§ HTTP/1.1
web socket: ws://shop.test/socket.io/?EIO=4&token=§&transport=websocket
JSON: {"user":"ann","password":"§"}
JSON, spaced: {⏎  "client_secret": "§"⏎}
JSON that was cut: {"user":"ann","refreshToken":"§
JSON in JSON: {"body":"{\"accessToken\":\"§\"}"}
JSON in JSON in JSON: "{\"body\":\"{\\\"apiKey\\\":\\\"§\\\"}\"}"
JSON in a URL: /api?filter=%7B%22token%22%3A%22§%22%7D
JSON in JSON in a URL: /cb?state=%7B%22ctx%22%3A%22%7B%5C%22accessToken%5C%22%3A%5C%22§%5C%22%7D%22%7D
JSON in HTML: <div data-props="{&quot;apiKey&quot;:&quot;§&quot;}">
JSON, an object: {"token":{"value":"§","expires":3600}}
service account of Google, newer: {"type":"service_account","private_key_id":"§","client_id":"1"}
object of Node: { user: 'ann', refreshToken: '§' }
object of Chromium: {user: ann, password: §}
object with colours: { clientSecret: ␛[32m'§'␛[39m }
form: user=ann&password=§&remember=1
form, nested: user%5Bname%5D=ann&user%5Bpassword%5D=§
multipart: --x⏎Content-Disposition: form-data; name="password"⏎⏎§⏎--x--
multipart in JSON: {"body":"--x\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\n§\r\n--x--"}
YAML: db:⏎  password: §⏎  port: 5432
YAML of Kubernetes: - name: DB_PASSWORD⏎  value: "§"
TOML: [db]⏎password = "§"
INI: aws_secret_access_key = §
properties: spring.datasource.password=§
XML: <user>ann</user><password>§</password>
SOAP: <wsse:Password Type="PasswordText">§</wsse:Password>
NuGet: <add key="ClearTextPassword" value="§" />
hidden field: <input type="hidden" name="csrf_token" value="§">
password field: <input value="§" type="password" id="pw">
meta element: <meta name="csrf-token" content="§" />
GraphQL: {"query":"mutation { login(user: \"ann\", password: \"§\") { id } }"}
Ruby: Parameters: {"user"=>"ann", "password"=>"§"}
PHP: array(2) {⏎  ["password"]=>⏎  string(22) "§"
Python: Login(user='ann', password='§')
Java: LoginRequest[username=ann, password=§, remember=true]
Go: {Host:db User:shop Password:§ Port:5432}
Rust: Config { host: "db", api_key: Some("§"), port: 3000 }
logfmt: level=info user=ann token=§ msg="signed in"
SQL: ALTER USER shop WITH PASSWORD '§';
source: const apiKey = '§';
source with a type: private readonly token: string = "§";
source with a default: const secret = process.env.SECRET ?? '§';
setter: localStorage.setItem('access_token', '§')
flag: psql --username app --password § shop
flag with a sign: kubectl create secret generic db --from-literal=password=§
variable before a command: PGPASSWORD='§' pg_dump shop
export: export STRIPE_SECRET=§
npmrc: //npm.shop.test/:_authToken=§
TOTP seed: otpauth://totp/Shop:ann?secret=§&issuer=Shop
step: Fill "§" getByLabel('Password')
call log: - waiting for getByLabel('Password')⏎  - fill("§")
test: await page.fill('#password', '§');
test by label: await page.getByLabel('Password').fill('§');
test over lines: await page⏎  .getByLabel('Password')⏎  .fill('§');
keys pressed: await page.getByPlaceholder('Password').pressSequentially('§', { delay: 20 });
snapshot: - textbox "Password" [active] [ref=e9]: §
`);

const passwords = [
  'Winter-Mond!47',
  'Sommer.2031',
  'Ahorn%Blatt26',
  'Kiefer^Zapfen60',
  'Quelle.2037',
  'Hagel_Sturm61x',
];
/** Where a password that a person chose is found, too. */
const chosen =
  /^(?:JSON|password|multipart|YAML|TOML|XML|source|test|step|call log|snapshot|Go|Ruby|Java|form)\b(?!.*(?:URL|@))/;

const key = (seed: number): string => {
  const lines = [0, 1, 2].map((at) => pseudoRandom(64, alphabets.a, seed + at));
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');
};
const keyLine = pseudoRandom(64, alphabets.a, 701);
const keys: readonly (readonly [name: string, text: string])[] = [
  ['as it is', key(700)],
  ['in JSON in JSON', JSON.stringify(JSON.stringify({ key: key(700) }))],
  ['in YAML', `key: |\n${key(700).replaceAll(/^/gm, '    ')}`],
  ['without its end', key(700).slice(0, 200)],
  ['behind labels', key(700).replaceAll(/^/gm, '[WebServer] ')],
  ['behind times', key(700).replaceAll(/^/gm, '1795000000123 ')],
];

/** What the environment of a run holds, and its files. */
export const variables = {
  SHOP_DB_PASSWORD: `Env-${pseudoRandom(12, alphabets.a, 31)}-77`,
  PAYMENT_API_KEY: `k${pseudoRandom(28, alphabets.a, 33)}`,
  SESSION_SECRET: `s p@ce "quoted" & <${pseudoRandom(12, alphabets.a, 35)}> 100%`,
  UMLAUT_PASSPHRASE: `Grüße-${pseudoRandom(12, alphabets.a, 104)}-ß€`,
  SYMBOL_PASSWORD: `p@ss/${pseudoRandom(12, alphabets.a, 103)}+w=rd&?#%!`,
  HEX_TOKEN: pseudoRandom(40, alphabets.h, 105),
} as const;

/** The files of a project that hold variables. */
const envFiles: Readonly<Record<string, string>> = {
  '.env': `OPAQUE=${pseudoRandom(40, alphabets.a, 108)}\nBASE_PART=${pseudoRandom(20, alphabets.a, 109)}\nEXPANDED_TOKEN=\${BASE_PART}/tail-9\nAPP_PORT=5173\n`,
  'packages/api/.env.local': `export DATABASE_URL='postgres://app:${pseudoRandom(18, alphabets.a, 107)}@db.shop.test/shop'\n`,
  '.envrc': 'export PIN_SECRET=84h!2z\nexport WORDY_PASSWORD=swordfish\n',
};

const each = (value: string, spell: (character: string) => string) => Array.from(value, spell).join('');
const hexOf = (character: string) => character.charCodeAt(0).toString(16);
const json = (value: string) => JSON.stringify({ note: value });

/** Ways in which programs write a known value into a text. */
const spellings: Readonly<Record<string, (value: string) => string>> = {
  'as it is': (v) => v,
  'within a word': (v) => `x${v}y`,
  'in JSON three deep': (v) => JSON.stringify(JSON.stringify(json(v))),
  'in JSON of Go': (v) => json(v).replace(/[<>&]/g, (found) => `\\u00${hexOf(found)}`),
  'in ASCII JSON': (v) => json(v).replace(/[^\x20-\x7e]/g, (found) => `\\u${hexOf(found).padStart(4, '0')}`),
  'in JSON, all escaped': (v) => `"${each(v, (one) => `\\u${hexOf(one).padStart(4, '0')}`)}"`,
  'in a URL in a URL': (v) => `/a?next=${encodeURIComponent(`/b?note=${encodeURIComponent(v)}`)}`,
  'in a form': (v) => new URLSearchParams({ note: v }).toString(),
  'in base64': (v) => `blob ${Buffer.from(v).toString('base64')} end`,
  'in base64 at offset 1': (v) => `blob ${Buffer.from(`a${v}zz`).toString('base64')} end`,
  'in base64url at offset 2': (v) => `blob ${Buffer.from(`ab${v}z`).toString('base64url')} end`,
  'in base64 in lines': (v) =>
    Buffer.from(`some words: ${v}, after`).toString('base64').replace(/.{20}/g, '$&\n'),
  'in hex': (v) => `bytes ${Buffer.from(v).toString('hex')}`,
  'in HTML': (v) =>
    `<b>${v.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')}</b>`,
  'in HTML by number': (v) => `<b>${v.replace(/[^\w ]/gu, (one) => `&#${one.codePointAt(0)};`)}</b>`,
  'in a shell': (v) => `run ${v.replace(/[^\w/.-]/g, '\\$&')}`,
  'in colours': (v) => `\u001b[32m${v.slice(0, 9)}\u001b[1;31m${v.slice(9)}\u001b[0m`,
  'over two lines': (v) => `it said ${v.slice(0, 12)}\n        ${v.slice(12)} at last`,
  'in a joined string': (v) => `const a = '${v.slice(0, 10)}' +\n  '${v.slice(10)}';`,
  'in a split write': (v) => `[WebServer] ${v.slice(0, 10)}[WebServer] ${v.slice(10)}\n`,
  'in a file name of Playwright': (v) =>
    `output/pays-with-${v.replaceAll(/[\0-,./:-@[-\x60{-\x7f]+/g, '-')}/trace.zip`,
  'in what cannot be seen': (v) => `${v.slice(0, 6)}\u200b${v.slice(6)}`,
  'on a long line': (v) => `${'{"a":1},'.repeat(2000)}${v}${',{"b":2}'.repeat(500)}`,
};

function known(): Plant[] {
  const spelled = Object.entries(variables).flatMap(([name, value]) =>
    Object.entries(spellings).map(([how, spell]) => ({ kind: `${name} ${how}`, value, text: spell(value) })),
  );
  const ofFiles = [
    pseudoRandom(40, alphabets.a, 108),
    `${pseudoRandom(20, alphabets.a, 109)}/tail-9`,
    pseudoRandom(18, alphabets.a, 107),
    '84h!2z',
    'swordfish',
  ];
  return [
    ...spelled,
    ...ofFiles.map((value) => ({ kind: 'of a file', value, text: `the log says ${value}, and more` })),
  ];
}

/** Everything that is planted, each with a value of its own. */
export const plants: readonly Plant[] = [
  ...known(),
  ...tokens.flatMap(([name, shape], n) =>
    [0, 5, 10].map((step) => {
      const [how, text] = around[(n + step) % around.length] ?? ['', ''];
      const value = made(shape, 300 + n * 3 + step);
      const half = Math.floor(value.length / 2);
      const halves = [value.slice(0, half), value.slice(half)] as const;
      const secret = shape.startsWith('https:') ? value.slice(-24) : value;
      return {
        kind: `${name}, ${how}`,
        value: secret,
        text: text.replace('§', value).replace('‹', halves[0]).replace('›', halves[1]),
      };
    }),
  ),
  ...places.map(([kind, text], n) => {
    const value = made('{a6}7{a7}4{a8}', 900 + n);
    return { kind, value, text: text.replace('§', value) };
  }),
  ...places
    .filter(([kind]) => chosen.test(kind))
    .map(([kind, text], n) => {
      const value = passwords[n % passwords.length] ?? '';
      return { kind: `${kind}, chosen`, value, text: text.replace('§', value) };
    }),
  ...keys.map(([how, text]) => ({ kind: `private key ${how}`, value: keyLine, text })),
  {
    kind: 'basic',
    value: 'YW5uOlZiOFFtMkxwMFhzNFRuNlI',
    text: 'sent with Basic YW5uOlZiOFFtMkxwMFhzNFRuNlI=.',
  },
];

/** Makes the folder a project whose files hold the planted variables. */
export async function plantIn(root: string): Promise<void> {
  for (const [file, content] of Object.entries(envFiles)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), content);
  }
}

/** Makes redactors of runs in such a project that have seen nothing yet. */
export async function plantedRedactors(): Promise<() => Redactor> {
  const root = await mkdtemp(path.join(tmpdir(), 'planted '));
  await plantIn(root);
  const known = [...secretsAmong(variables), ...(await secretsOfEnvFiles(root))];
  await rm(root, { recursive: true });
  return () => redactorOf(known);
}

const stretch = 8;

/** Which of the secrets can be read in a text, however they are written there: `kind: the first stretch`. */
export function leaksOf(secrets: readonly Pick<Plant, 'kind' | 'value'>[], text: string): string[] {
  const readable = readings(text);
  return secrets.flatMap(({ kind, value }) => {
    const whole = readings(value)[1] ?? value;
    for (let at = 0; at === 0 || at + stretch <= whole.length; at += 1) {
      const part = whole.slice(at, at + stretch);
      if (readable.some((one) => one.includes(part))) return [`${kind}: ${part}`];
    }
    return [];
  });
}

/** The text as it stands, and as somebody reads it who undoes whatever was done to it. */
function readings(text: string): string[] {
  let read = text;
  const character = (digits: string, radix: number) => String.fromCodePoint(Number.parseInt(digits, radix));
  for (let round = 0; round < 4; round += 1) {
    read = read
      .replace(/\\+u\{?([\dA-Fa-f]{4,5})\}?/g, (_, digits: string) => character(digits, 16))
      .replace(/\\+[nrt]|\\+/g, '')
      .replace(/(?:%[\dA-Fa-f]{2})+/g, (found) => Buffer.from(found.replaceAll('%', ''), 'hex').toString())
      .replace(/&#(\d{1,6});/g, (_, digits: string) => character(digits, 10))
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');
  }
  // oxlint-disable-next-line no-control-regex -- ESC begins a colour
  const bare = read.replace(/\u001b\[[\d;]*m|\[[\w ]+\] |[\s'"+\u200b]/g, '');
  const base64 = [...bare.matchAll(/[\w/-]{16,}={0,2}/g)].flatMap(([found]) =>
    [0, 1, 2, 3].map((from) => Buffer.from(found.slice(from), 'base64').toString('latin1')),
  );
  const hex = [...bare.matchAll(/[\da-f]{24,}/gi)].map(([found]) => Buffer.from(found, 'hex').toString());
  return [text, bare, base64.join('\n'), hex.join('\n')];
}
