import { letters, planted, pseudoRandom, type Plant } from './plant.js';

const hex = '0123456789abcdef';
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A carrier, and what it carries: a random value of twenty-two letters and digits if nothing else is said. */
type Row = readonly [name: string, carry: (value: string) => string, value?: string];

const random = (length: number, from: string, seed: number): string =>
  pseudoRandom(length, from, 6000 + seed);

/** SDKs, containers, clusters and pipelines. */
const infrastructure: readonly Row[] = [
  [
    'AWS SDK log',
    (v) =>
      `{ clientName: 'STSClient', commandName: 'AssumeRoleCommand', output: { Credentials: { AccessKeyId: 'x', SecretAccessKey: '${v}', Expiration: 2026-11-22T10:00:00.000Z } } }`,
    random(40, `${letters}/+`, 1),
  ],
  [
    'STS answer',
    (v) => `<Credentials><SessionToken>${v}</SessionToken><Expiration>2026</Expiration></Credentials>`,
    random(120, `${letters}/+`, 2),
  ],
  [
    'canonical request of botocore',
    (v) => `host:s3.eu-central-1.amazonaws.com\nx-amz-security-token:${v}\n\nhost;x-amz-date`,
    random(90, `${letters}/+`, 3),
  ],
  [
    'Service Bus connection string',
    (v) => `Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${v}`,
    `${random(43, letters, 4)}=`,
  ],
  [
    'Google default credentials',
    (v) => `{\n  "client_id": "7-x.apps.test",\n  "client_secret": "${v}",\n  "type": "authorized_user"\n}`,
    `d-${random(22, letters, 5)}`,
  ],
  [
    'stringData of a manifest',
    (v) => `apiVersion: v1\nkind: Secret\nstringData:\n  redis-password: ${v}\n  host: cache`,
    'Mohn.3001',
  ],
  [
    'data of a manifest',
    (v) => `kind: Secret\ndata:\n  POSTGRES_USER: YXBw\n  POSTGRES_PASSWORD: ${v}\n`,
    base64('Klatschmohn.3002'),
  ],
  [
    'docker inspect over lines',
    (v) =>
      `        "Config": {\n            "Env": [\n                "MYSQL_ROOT_PASSWORD=${v}",\n                "PATH=/usr/bin"\n            ]`,
    'Distel.3003',
  ],
  [
    'Terraform state, attribute',
    (v) =>
      `          "attributes": {\n            "engine": "postgres",\n            "password": "${v}",\n            "port": 5432\n          }`,
    'Nelke.3004',
  ],
  [
    'Terraform state, output',
    (v) =>
      `    "db_password": {\n      "value": "${v}",\n      "type": "string",\n      "sensitive": true\n    }`,
    'Aster.3005',
  ],
  [
    'GitHub Actions, env of a step',
    (v) => `2026-11-22T10:00:00.1234567Z   DEPLOY_TOKEN: ${v}\n2026-11-22T10:00:00.1234568Z ##[endgroup]`,
  ],
  ['GitHub Actions, add-mask', (v) => `::add-mask::${v}`],
  ['GitHub Actions, output', (v) => `::set-output name=access_token::${v}`],
  [
    'vault kv get',
    (v) => `====== Data ======\nKey         Value\n---         -----\nhost        db.test\npassword    ${v}`,
    'Malve.3006',
  ],
  ['systemd unit', (v) => `[Service]\nEnvironment="SMTP_PASSWORD=${v}" "NODE_ENV=production"`, 'Lilie.3007'],
  ['JVM property', (v) => `java -Xmx2g -Dspring.datasource.password=${v} -jar shop.jar`, 'Veilchen.3008'],
  ['keytool', (v) => `keytool -genkeypair -alias shop -storepass ${v} -keystore shop.jks`, 'Primel.3009'],
  [
    'Kafka JAAS',
    (v) =>
      `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="shop" password="${v}";`,
    'Krokus.3010',
  ],
  [
    'WireGuard',
    (v) => `[Interface]\nPrivateKey = ${v}\nAddress = 10.0.0.2/32`,
    `${random(43, `${letters}/+`, 11)}=`,
  ],
  [
    'PuTTY key',
    (v) => `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n${v}\nPrivate-MAC: ab`,
    `AAAA${random(48, letters, 12)}`,
  ],
  [
    'ssh config',
    (v) => `Host db\n  User ann\n  ProxyCommand sshpass -p ${v} ssh -W %h:%p jump.test`,
    'Iris.3011',
  ],
  ['dotenv with export and a comment', (v) => `export DB_PASS="${v}" # rotated in May`, 'Ginster.3012'],
  ['dotenv, commented out', (v) => `# OLD_SMTP_PASSWORD=${v}`, 'Flieder.3013'],
  ['dotenv in a diff', (v) => `@@ -1,2 +1,2 @@\n-PAYPAL_SECRET=${v}\n+PAYPAL_SECRET=`],
];

/** What servers and libraries print. */
const logs: readonly Row[] = [
  [
    'GraphQL, inline argument',
    (v) =>
      JSON.stringify({
        query: `mutation { signIn(email: "ann@shop.test", password: "${v}") { user { id } } }`,
      }),
    'Rotbuche 31',
  ],
  [
    'GraphQL, variables',
    (v) =>
      JSON.stringify({ operationName: 'SignIn', variables: { input: { email: 'a@b.test', passcode: v } } }),
    'Weide.3101',
  ],
  [
    'multipart with a type',
    (v) =>
      `------WebKitFormBoundary7MA4\r\nContent-Disposition: form-data; name="client_secret"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${v}\r\n------WebKitFormBoundary7MA4--`,
  ],
  [
    'Spring request log',
    (v) =>
      `DEBUG o.s.w.f.CommonsRequestLoggingFilter : Before request [POST /login, payload=username=ann&password=${v}]`,
    'Erle.3102',
  ],
  [
    'Go slog text',
    (v) => `time=2026-11-22T10:00:00Z level=INFO msg="sign in" user=ann password=${v}`,
    'Ulme.3103',
  ],
  [
    'Go headers in JSON',
    (v) => `{"level":"INFO","msg":"in","header":{"Accept":["*/*"],"X-Vault-Token":["${v}"]}}`,
  ],
  ['Go request, quoted', (v) => `"GET / HTTP/1.1\\r\\nHost: a.test\\r\\nX-Api-Token: ${v}\\r\\n\\r\\n"`],
  [
    'Rust, pretty Debug',
    (v) => `Config {\n    url: "http://a.test",\n    api_key: Some(\n        "${v}",\n    ),\n}`,
  ],
  ['Rust tracing span', (v) => `INFO sign_in{user="ann" password="${v}"}: shop::auth: denied`, 'Esche.3104'],
  [
    'bunyan',
    (v) =>
      `{"name":"shop","hostname":"ci","pid":7,"level":30,"apiSecret":"${v}","msg":"","time":"2026-11-22T10:00:00.000Z","v":0}`,
  ],
  [
    'winston with credentials in it',
    (v) => `info: connected {"meta":{"credentials":{"user":"ann","pass":"${v}"}},"service":"shop"}`,
    'Linde.3105',
  ],
  [
    'URLSearchParams of Node',
    (v) => `URLSearchParams { 'grant_type' => 'password', 'password' => '${v}' }`,
    'Ahorn.3106',
  ],
  [
    'span of OpenTelemetry',
    (v) => `attributes: { 'http.request.header.x_api_key': [ '${v}' ], 'http.status_code': 500 }`,
  ],
  [
    'JSON in JSON in a URL',
    (v) =>
      `/cb?state=${encodeURIComponent(JSON.stringify({ ctx: JSON.stringify({ accessToken: v, n: 1 }) }))}&ok=1`,
  ],
  ['provisioning URI', (v) => `otpauth://totp/Shop:ann?secret=${v}&issuer=Shop`, random(32, base32, 13)],
  ['fragment', (v) => `http://shop.test/cb#access_token=${v}&token_type=bearer`],
  ['row of a table', (v) => `<tr><th>API key</th><td>${v}</td></tr>`],
  [
    'settings page of Django',
    (v) => `<td>SECRET_KEY</td>\n<td class="code"><pre>&#x27;${v}&#x27;</pre></td>`,
  ],
  ['block of YAML', (v) => `smtp:\n  user: ann\n  password: |\n    ${v}\n`, 'Eibe.3107'],
  ['SQL values', (v) => `INSERT INTO "users" ("email", "reset_token") VALUES ('ann@shop.test', '${v}')`],
  ['SQL, set', (v) => `UPDATE users SET reset_token = '${v}' WHERE id = 7`],
  ['SQL, role', (v) => `CREATE ROLE app LOGIN PASSWORD '${v}';`, 'Zeder.3108'],
  ['urllib3 debug', (v) => `send: b'POST /login HTTP/1.1\\r\\nAuthorization: Token ${v}\\r\\n\\r\\n'`],
  ['ApiKey scheme', (v) => `curl --header 'Authorization: ApiKey ${v}' http://es.test`],
  ['Access header', (v) => `CF-Access-Client-Secret: ${v}`, random(64, hex, 14)],
];

/** A fourth set, kept back: written when the first three held, and measured before anything was mended for it. */
export function fourthPlants(): Plant[] {
  return [...infrastructure, ...logs].map(([name, carry, value], index) => {
    const secret = value ?? random(22, letters, 100 + index);
    return planted('fourth set', name, secret, carry(secret));
  });
}

/** The same for what may not be masked. */
export const fourthHarmless: readonly string[] = [
  'DEBUG com.zaxxer.hikari.HikariConfig - password........................<masked>',
  '      + master_password = (sensitive value)',
  'env:\n  NPM_TOKEN: ***\n  CI: true',
  'valueFrom:\n  secretKeyRef:\n    name: db-credentials\n    key: password',
  `"Image": "sha256:${random(64, hex, 21)}",`,
  'with:\n  token: ${{ secrets.GITHUB_TOKEN }}\nsecrets: inherit',
  "pino({ redact: ['req.headers.authorization', 'req.body.password'] })",
  'type Mutation { login(email: String!, password: String!): AuthPayload! }',
  'Field "token" of type "Token!" must have a selection of subfields.',
  'error[E0308]: mismatched types: expected `SecretString`, found `&str`',
  "error CS0103: The name 'apiToken' does not exist in the current context",
  'NullPointerException: Cannot invoke "com.shop.Token.getValue()" because "token" is null',
  'github.com/shop/auth.(*TokenStore).Get(0xc000123456, 0x10)',
  'Host github.com\n  IdentityFile ~/.ssh/id_ed25519\n  PasswordAuthentication no',
  'debug1: Authentications that can continue: publickey,password,keyboard-interactive',
  'resource "aws_secretsmanager_secret" "db" {\n  name = "shop/db/password"\n}',
  'NAME             TYPE     DATA   AGE\ndb-credentials   Opaque   2      5d',
  `traceparent: 00-${random(32, hex, 22)}-${random(16, hex, 23)}-01`,
  '<input type="password" name="password" autocomplete="current-password" aria-describedby="password-hint">',
  "await page.getByLabel('Password').fill(process.env.E2E_PASSWORD!);",
  'Cookie “sid” has been rejected because it is in a cross-site context and its “SameSite” is “Lax”.',
  'access_token expired at 2026-11-22T10:00:00Z, refreshing it',
  'x-ratelimit-remaining-tokens: 149984',
  'ALTER TABLE sessions ADD COLUMN token_hash bytea NOT NULL;',
  'duplicate key value violates unique constraint "api_keys_name_key": Key (name)=(deploy-bot) already exists.',
  '-  session: { strategy: "jwt" },\n+  session: { strategy: "database" },',
  'fn verify(secret: &SecretKey, sig: &[u8; 64]) -> Result<(), SignatureError> {',
  'func (s *Server) Login(ctx context.Context, password string) (token string, err error) {',
  'public record LoginRequest(string UserName, string Password);',
  'echo "$TOKEN" | docker login --username ann --password-stdin ghcr.io',
  'Signature algorithm: sha256WithRSAEncryption, public key: 2048 bit',
  `GET /api/password-policies/3f2504e0-4f89-41d3-9a0c-0305e82c3301 404 (trace ${random(16, hex, 24)})`,
];
