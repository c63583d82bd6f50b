import { letters, planted, pseudoRandom, type Plant } from './plant.js';

// Put together here, so that no scanner takes this file for a leak.
const join = (...parts: readonly string[]) => parts.join('');
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const digits = '0123456789';
const hexDigits = '0123456789abcdef';
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

let seed = 5000;
const some = (length: number, from = letters) => pseudoRandom(length, from, (seed += 1));
const hex = (length: number) => some(length, hexDigits);
const lower = (length: number) => some(length, 'abcdefghijklmnopqrstuvwxyz0123456789');
const uuid = () => [8, 4, 4, 4, 12].map(hex).join('-');
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Beginning (which is public), and what is secret behind it. */
const shapes: Readonly<Record<string, readonly [begin: string, rest: string]>> = {
  'GitHub token': [join('gh', 'p_'), some(36)],
  'GitHub app token': [join('gh', 's_'), some(36)],
  'GitHub fine-grained token': [join('github_', 'pat_'), `${some(22)}_${some(59)}`],
  'GitLab token': [join('gl', 'pat-'), some(20)],
  'GitLab runner': [join('GR13', '48941'), some(20)],
  'GitLab feed token': [join('gl', 'ft-'), some(20)],
  'GitLab incoming mail': [join('gl', 'imt-'), some(25)],
  'Slack bot': [join('xo', 'xb-'), `${some(12, digits)}-${some(12, digits)}-${some(24)}`],
  'Slack app': [join('xa', 'pp-1-'), `A${some(10, upper)}-${some(13, digits)}-${hex(64)}`],
  'Slack webhook': [
    join('https://hooks.', 'slack', '.com/services/'),
    `T${some(10)}/B${some(10)}/${some(24)}`,
  ],
  'Teams webhook': [
    join('https://shop.webhook.', 'office', '.com/webhookb2/'),
    `${uuid()}@${uuid()}/IncomingWebhook/${hex(32)}/${uuid()}`,
  ],
  'Discord webhook': [join('https://discord', '.com/api/webhooks/1234567890123/'), some(68)],
  'Stripe key': [join('sk_', 'live_'), some(24)],
  'Stripe restricted': [join('rk_', 'prod_'), some(30)],
  'Stripe webhook': [join('wh', 'sec_'), some(32)],
  'OpenAI key': [join('sk-', 'proj-'), some(48)],
  'OpenAI service account': [join('sk-', 'svcacct-'), some(60)],
  'Anthropic key': [join('sk-', 'ant-api03-'), some(80)],
  'AWS key id': [join('AK', 'IA'), some(16, base32)],
  'AWS temporary key id': [join('AS', 'IA'), some(16, base32)],
  'AWS other key id': [join('AB', 'IA'), some(16, base32)],
  'AWS Bedrock': [join('ABS', 'K'), some(120)],
  'Google API key': [join('AI', 'za'), some(35)],
  'Google OAuth': [join('ya', '29.'), some(60)],
  'Google client secret': [join('GOC', 'SPX-'), some(28)],
  'npm token': [join('np', 'm_'), some(36)],
  'PyPI token': [join('py', 'pi-AgEIcHlwaS5vcmc'), some(60)],
  RubyGems: [join('ruby', 'gems_'), hex(48)],
  Clojars: [join('CLOJ', 'ARS_'), lower(60)],
  SendGrid: [join('S', 'G.'), `${some(22)}.${some(43)}`],
  Sendinblue: [join('xkey', 'sib-'), `${hex(64)}-${some(16)}`],
  'Twilio key': [join('S', 'K'), hex(32)],
  'Supabase secret': [join('sb_', 'secret_'), some(31)],
  'Supabase token': [join('sb', 'p_'), hex(40)],
  'Hugging Face': [join('h', 'f_'), some(34)],
  'Hugging Face organisation': [join('api_', 'org_'), some(34, 'abcdefghijklmnopqrstuvwxyz')],
  DigitalOcean: [join('do', 'p_v1_'), hex(64)],
  'Shopify token': [join('shp', 'at_'), hex(32)],
  Linear: [join('lin_', 'api_'), some(40)],
  'Docker Hub': [join('dckr_', 'pat_'), some(27)],
  Databricks: [join('da', 'pi'), hex(32)],
  Vault: [join('hv', 's.'), some(95)],
  'Grafana service account': [join('gl', 'sa_'), `${some(32)}_${hex(8)}`],
  'Sentry organisation': [join('sntr', 'ys_'), some(60)],
  'Sentry user': [join('sntr', 'yu_'), hex(64)],
  Postman: [join('PM', 'AK-'), `${hex(24)}-${hex(34)}`],
  Atlassian: [join('ATA', 'TT3'), some(186)],
  Telegram: [join('123456', '789:'), `AA${some(33)}`],
  age: [join('AGE-SECRET', '-KEY-1'), some(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')],
  '1Password': [
    join('A', '3-'),
    `${some(6, upper)}-${some(6, upper)}-${some(5, upper)}-${some(5, upper)}-${some(5, upper)}-${some(5, upper)}`,
  ],
  '1Password service account': [join('op', 's_eyJ'), some(250)],
  Adobe: [join('p8', 'e-'), lower(32)],
  Airtable: [join('p', 'at'), `${some(14)}.${hex(64)}`],
  Alibaba: [join('LT', 'AI'), lower(20)],
  Artifactory: [join('AK', 'Cp'), some(69)],
  'Azure client secret': [join('abc8Q', '~'), some(34)],
  'Cloudflare origin': [join('v1', '.0-'), `${hex(24)}-${hex(146)}`],
  Doppler: [join('dp', '.pt.'), lower(43)],
  Duffel: [join('duf', 'fel_test_'), lower(43)],
  Dynatrace: [join('dt0', 'c01.'), `${some(24, upper)}.${some(64, upper)}`],
  EasyPost: [join('EZ', 'AK'), lower(54)],
  Facebook: [join('EA', 'AM'), some(110)],
  Flutterwave: [join('FLWSE', 'CK_TEST-'), `${hex(32)}-X`],
  'Fly.io': [join('fo', '1_'), some(43)],
  'Frame.io': [join('fi', 'o-u-'), some(64)],
  Harness: [join('p', 'at.'), `${some(22)}.${some(24)}.${some(20)}`],
  Terraform: [`${some(14)}.${join('atlas', 'v1')}.`, some(64)],
  Heroku: [join('HR', 'KU-AA'), some(58)],
  Infracost: [join('i', 'co-'), some(32)],
  Mailgun: [join('ke', 'y-'), hex(32)],
  Mailchimp: ['', `${hex(32)}-us12`],
  MaxMind: ['', `${some(6)}_${some(29)}_mmk`],
  Mapbox: [join('s', 'k.eyJ'), `${some(60)}.${some(22)}`],
  'New Relic': [join('NR', 'AK-'), some(27, `${upper}${digits}`)],
  Notion: [join('nt', 'n_'), `${some(11, digits)}${some(35)}`],
  Octopus: [join('AP', 'I-'), some(26, `${upper}${digits}`)],
  OpenShift: [join('sha', '256~'), some(43)],
  Perplexity: [join('pp', 'lx-'), some(48)],
  Plaid: [join('access-', 'sandbox-'), uuid()],
  PlanetScale: [join('pscale', '_tkn_'), some(43)],
  'PlanetScale password': [join('pscale', '_pw_'), some(43)],
  Prefect: [join('pn', 'u_'), some(36)],
  Pulumi: [join('pu', 'l-'), hex(40)],
  ReadMe: [join('rd', 'me_'), lower(70)],
  Scalingo: [join('tk-', 'us-'), some(48)],
  SettleMint: [join('sm', '_pat_'), some(16)],
  Shippo: [join('shippo', '_live_'), hex(40)],
  Sourcegraph: [join('sg', 'p_'), hex(40)],
  Square: [join('sq0', 'atp-'), some(22)],
  Typeform: [join('tf', 'p_'), lower(59)],
  Yandex: [join('AQ', 'VN'), some(37)],
  Groq: [join('gs', 'k_'), some(52)],
  xAI: [join('xa', 'i-'), some(80)],
  Resend: [join('re', '_'), `${some(8)}_${some(24)}`],
  Vercel: [join('vercel', '_blob_rw_'), `${some(16)}_${some(30)}`],
  Figma: [join('fi', 'gd_'), some(40)],
  Tailscale: [join('tskey', '-auth-'), `${some(16)}-${some(32)}`],
  Replicate: [join('r', '8_'), some(37)],
  Langfuse: [join('sk-', 'lf-'), uuid()],
};

const aJwt = () =>
  [base64url({ alg: 'HS256', typ: 'JWT' }), base64url({ sub: 'ann', role: some(12) }), some(43)].join('.');
const jwt = aJwt();
const wrapped = aJwt();
const pem = (label: string) =>
  [
    `-----BEGIN ${label}-----`,
    ...[1, 2, 3, 4].map(() => some(64, `${letters}+/`)),
    `-----END ${label}-----`,
  ].join('\n');
const keyLine = (text: string) => text.split('\n')[2] ?? '';
const rsa = pem('RSA PRIVATE KEY');
const pgp = pem('PGP PRIVATE KEY BLOCK');

/** Ways in which a token comes, taken in turn. */
const around: readonly (readonly [string, (token: string) => string])[] = [
  ['in a sentence', (token) => `it sent ${token} to them`],
  ['in JSON', (token) => JSON.stringify({ note: token })],
  ['in a URL', (token) => `/a?x=${encodeURIComponent(token)}&b=1`],
  ['in quotes', (token) => `use("${token}")`],
  ['behind a colon', (token) => `got:${token}`],
  ['in JSON in JSON', (token) => JSON.stringify(JSON.stringify({ note: token }))],
  ['at the end of a line', (token) => `line of ${token}\nnext`],
  ['with colours', (token) => `\u001b[33m${token}\u001b[0m`],
];

/** Tokens and keys that are known by their shape. */
export function shapedPlants(): Plant[] {
  const tokens = Object.entries(shapes)
    .filter(([, [, rest]]) => rest !== '')
    .map(([kind, [begin, rest]], at) => {
      const [spelling, carry] = around[at % around.length] ?? ['', (token: string) => token];
      return planted('token', `${kind}, ${spelling}`, rest, carry(begin + rest));
    });
  return [
    ...tokens,
    planted('JWT', 'in a sentence', jwt.split('.')[2] ?? '', `it was ${jwt} here`),
    planted('JWT', 'its claims', jwt.split('.')[1] ?? '', `got '${jwt}'.`),
    planted(
      'JWT',
      'in base64',
      Buffer.from(jwt).toString('base64').slice(60),
      Buffer.from(jwt).toString('base64'),
    ),
    planted(
      'JWT',
      'cut over lines',
      wrapped.split('.')[2] ?? '',
      `${wrapped.slice(0, 50)}\n${wrapped.slice(50)}`,
    ),
    planted('private key', 'RSA', keyLine(rsa), rsa),
    planted('private key', 'in JSON', keyLine(rsa), JSON.stringify({ key: rsa })),
    planted('private key', 'in JSON in JSON', keyLine(rsa), JSON.stringify(JSON.stringify({ key: rsa }))),
    planted('private key', 'on one line', keyLine(rsa), rsa.replaceAll('\n', ' ')),
    planted('private key', 'in YAML', keyLine(rsa), `key: |\n${rsa.replaceAll(/^/gm, '    ')}`),
    planted('private key', 'without its end', keyLine(rsa), rsa.slice(0, 240)),
    planted(
      'private key',
      'behind stamps of a log',
      keyLine(rsa),
      rsa.replaceAll(/^/gm, '[server] 10:00:01 '),
    ),
    planted(
      'private key',
      'in base64',
      Buffer.from(rsa).toString('base64').slice(80, 200),
      `tls.key: ${Buffer.from(rsa).toString('base64')}`,
    ),
    planted('private key', 'PGP', keyLine(pgp), pgp),
    planted('bearer', 'in a sentence', 'Vb8Qm2Lp0Xs4Tn6R', 'sent with Bearer Vb8Qm2Lp0Xs4Tn6R to it'),
    planted(
      'basic',
      'in a sentence',
      Buffer.from('ann:Vb8Qm2Lp0Xs4Tn6R').toString('base64'),
      `sent with Basic ${Buffer.from('ann:Vb8Qm2Lp0Xs4Tn6R').toString('base64')}.`,
    ),
    planted(
      'JWK',
      'JSON',
      'Vb8Qm2Lp0Xs4Tn6RVb8Qm2',
      JSON.stringify({ kty: 'RSA', n: 'abc', e: 'AQAB', d: 'Vb8Qm2Lp0Xs4Tn6RVb8Qm2' }),
    ),
  ].filter(({ text }) => text !== '');
}
