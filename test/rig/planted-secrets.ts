/** A secret that was never used, and a text that contains it in the usual form. */
export interface Planted {
  readonly kind: string;
  /** Must not occur in any output. */
  readonly value: string;
  readonly text: string;
}

// Assembled at run time, so that no scanner takes this file for a leak.
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const random = (length: number, from = letters, seed = 7) =>
  Array.from({ length }, (_, at) => from[(seed + at * 37 + ((at * at) % 53) * 11) % from.length]).join('');
const joined = (...parts: readonly string[]) => parts.join('');
const hex = (length: number, seed = 3) => random(length, '0123456789abcdef', seed);
const word = (seed: number) => `Zq${random(14, letters, seed)}9x`;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const jwt = [base64url({ alg: 'HS256', typ: 'JWT' }), base64url({ sub: 'ann', role: 'x' }), random(43)].join(
  '.',
);
const pem = (label: string, seed: number) => {
  const lines = [0, 1, 2, 3].map((at) => random(64, `${letters}+/`, seed + at));
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join('\n');
};
const keyLine = (text: string) => text.split('\n')[2] ?? '';

const token = (kind: string, value: string): Planted => ({ kind, value, text: `it sent ${value} to them` });
const carried = (kind: string, value: string, carry: (value: string) => string): Planted => ({
  kind,
  value,
  text: carry(value),
});

const rsa = pem('RSA PRIVATE KEY', 1);
const ssh = pem('OPENSSH PRIVATE KEY', 11);

/** One secret of each kind, each with its own value. */
export const plantedSecrets: readonly Planted[] = [
  token('GitHub token', joined('gh', 'p', '_', random(36))),
  token('GitHub fine-grained token', joined('github_', 'pat', '_', random(22), '_', random(59))),
  token('GitLab token', joined('gl', 'pat', '-', random(20))),
  token(
    'Slack token',
    joined('xo', 'xb', '-', random(12, '0123456789'), '-', random(12, '0123456789', 2), '-', random(24)),
  ),
  token(
    'Slack webhook',
    joined('https://hooks.', 'slack', '.com/services/T', random(10), '/B', random(10), '/', random(24)),
  ),
  token('Stripe key', joined('sk_', 'live', '_', random(24))),
  token('Stripe webhook secret', joined('wh', 'sec', '_', random(32))),
  token('OpenAI key', joined('sk-', 'proj', '-', random(48))),
  token('Anthropic key', joined('sk-', 'ant', '-api03-', random(80))),
  token('AWS key id', joined('AK', 'IA', random(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'))),
  carried('AWS secret key', random(40, `${letters}/+`), (value) => `aws_secret_access_key = ${value}`),
  token('Google API key', joined('AI', 'za', random(35))),
  token('Google OAuth token', joined('ya29', '.', random(60))),
  carried('Azure storage key', `${random(86)}==`, (value) =>
    ['DefaultEndpointsProtocol=https', 'AccountName=shop', `AccountKey=${value}`, 'EndpointSuffix=core'].join(
      ';',
    ),
  ),
  carried('Azure SAS', random(43), (value) => `https://shop.blob.test/c?sv=2024-01-01&sig=${value}`),
  token('npm token', joined('np', 'm', '_', random(36))),
  token('SendGrid key', joined('SG', '.', random(22), '.', random(43))),
  token('Twilio key', joined('S', 'K', hex(32))),
  carried('Twilio auth token', hex(32, 5), (value) => `TWILIO_AUTH_TOKEN=${value}`),
  token('Supabase secret key', joined('sb_', 'secret', '_', random(31))),
  token('JWT', jwt),
  carried('bearer token', word(1), (value) => `sent with Bearer ${value}`),
  carried('basic authentication', base64(`ann:${word(2)}`), (value) => `Authorization: Basic ${value}`),
  carried('cookie', word(3), (value) => `Cookie: theme=dark; connect.sid=${value}`),
  carried('set-cookie', word(4), (value) => `Set-Cookie: sid=${value}; HttpOnly; Path=/`),
  carried('storage state cookie', word(5), (value) =>
    JSON.stringify({ cookies: [{ name: 'anything', value, domain: 'shop.test', path: '/' }] }),
  ),
  carried('storage state entry', word(6), (value) =>
    JSON.stringify({ localStorage: [{ name: 'sb-shop-auth-token', value }] }),
  ),
  carried('JSON password', word(7), (value) => JSON.stringify({ user: 'ann', password: value })),
  carried('JSON in JSON', word(8), (value) =>
    JSON.stringify({ body: JSON.stringify({ refreshToken: value }) }),
  ),
  carried('form password', word(9), (value) => `user=ann&password=${value}&remember=1`),
  carried('multipart password', word(10), (value) =>
    ['--x', 'Content-Disposition: form-data; name="password"', '', value, '--x--'].join('\r\n'),
  ),
  carried('query token', word(11), (value) => `GET /callback?state=1&access_token=${value}`),
  carried('OAuth code', word(12), (value) => `https://shop.test/callback?code=${value}&state=1`),
  carried(
    'AWS signature',
    hex(64, 9),
    (value) => `https://b.s3.test/o?X-Amz-Date=20260101&X-Amz-Signature=${value}`,
  ),
  carried('URL in a URL', word(13), (value) => `/login?next=${encodeURIComponent(`/a?b=1&token=${value}`)}`),
  carried('PostgreSQL', word(14), (value) => `postgres://app:${value}@db.test:5432/shop`),
  carried('MySQL', word(15), (value) => `mysql://app:${value}@db.test/shop`),
  carried('MongoDB', word(16), (value) => `mongodb+srv://app:${value}@cluster.test/shop?w=1`),
  carried('Redis', word(17), (value) => `redis://:${value}@cache.test:6379/0`),
  carried('AMQP', word(18), (value) => `amqp://app:${value}@queue.test/v`),
  carried('SQL Server', word(19), (value) => `Server=db.test;Database=shop;User Id=sa;Password=${value};`),
  carried('URL password', word(20), (value) => `https://ann:${value}@shop.test/`),
  carried('filled password', word(21), (value) =>
    [
      'TimeoutError: locator.fill: Timeout 2500ms exceeded.',
      'Call log:',
      "  - waiting for getByLabel('Password')",
      `  - fill("${value}")`,
    ].join('\n'),
  ),
  carried('password in a test', word(22), (value) => `await page.fill('#password', '${value}');`),
  carried('command line', word(23), (value) => `psql --username app --password ${value} shop`),
  carried('header of curl', word(24), (value) => `curl -H 'X-Api-Key: ${value}' https://shop.test`),
  { kind: 'RSA key', value: keyLine(rsa), text: rsa },
  { kind: 'SSH key', value: keyLine(ssh), text: `the key is\n${ssh}\nand that is it` },
  { kind: 'key in JSON', value: keyLine(rsa), text: JSON.stringify({ private: rsa }) },
];

/** Environment variables of every run that tests masking, with names that mark them as secrets. */
export const plantedVariables = {
  SHOP_DB_PASSWORD: `Env-${random(12, letters, 31)}-77`,
  PAYMENT_API_KEY: `k${random(28, letters, 33)}`,
  SESSION_SECRET: `s p@ce "quoted" ${random(12, letters, 35)}`,
} as const;

/** Texts in which nothing may be masked. */
export const ordinaryTexts: readonly string[] = [
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8 on main',
  'order 3f2504e0-4f89-41d3-9a0c-0305e82c3301 was not found',
  'ULID 01ARZ3NDEKTSV4RRFFQ69G5FAV, nanoid V1StGXR8_Z5jdHi6B-myT',
  `<img src="data:image/png;base64,${base64('\u0089PNG not really a picture, but long enough '.repeat(20))}">`,
  'GET http://localhost:5173/assets/index-BkQ3x7Zp.9f8e7d6c.js?v=1a2b3c4d net::ERR_ABORTED',
  'etag: W/"5d8c72a5edda8d6a-1f4"',
  `"integrity": "sha512-${base64(random(64, letters, 51))}"`,
  'color: #ff00aa; background: rgba(12, 34, 56, 0.7)',
  'invoice 20261121000123456789012345 for 4111 units',
  `waiting for getByTestId('checkout-button-primary').filter({ hasText: 'Buy now' })`,
  `locator('input[name="password"]') resolved to 2 elements`,
  `expect(locator).toHaveText(expected) failed: Expected: "Thanks" Received: "Tanks"`,
  'Error: Invalid password: too short',
  `SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON`,
  'the user postgres connects to localhost as root, true or false, 5432 or 3000',
  'postgres://app@localhost:5432/shop?sslmode=disable',
  '{"max_tokens":4096,"total_tokens":12,"sort_key":"name","keyboard":"de"}',
  'Basic authentication is required; Bearer of bad news',
  'at Object.<anonymous> (/app/node_modules/.pnpm/react-dom@19.0.0_react@19.0.0/index.js:12:34)',
  'disk-usage-of-the-whole-risk-management-database task-0123456789012345678901',
  'ERROR: insert or update on table "orders" violates foreign key constraint "orders_user_id_fkey" (SQLSTATE 23503)',
  'GET /rest/v1/orders?select=*&order=created_at.desc&limit=10 → 404 code=PGRST116',
  'const token = await getToken(); if (!token) throw new Error("no token");',
  'x-request-id: 7b1f0e9c-2d3a-4a5b-8c6d-0e1f2a3b4c5d',
];
