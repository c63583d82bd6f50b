import { letters, planted, pseudoRandom, type Plant } from './plant.js';

const hex = '0123456789abcdef';
const lower = 'abcdefghijklmnopqrstuvwxyz0123456789';
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const digits = '0123456789';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/** A carrier, and what it carries: a random value of twenty letters and digits if nothing else is said. */
type Row = readonly [name: string, carry: (value: string) => string, value?: string];

const random = (length: number, from: string, seed: number): string =>
  pseudoRandom(length, from, 4000 + seed);
const uuid = (seed: number): string =>
  random(32, hex, seed).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const jwt = (seed: number): string =>
  `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(`{"sub":"${random(9, lower, seed)}","iat":1795000000}`)}.${random(43, letters, seed + 1)}`;

/** What a browser, Playwright and its reports print. */
const page: readonly Row[] = [
  ['console preview of an object', (v) => `{user: Ann, accessToken: ${v}, expiresIn: 3600}`],
  ['console preview of an array', (v) => `(2) ['sessionToken', '${v}']`],
  [
    'call log of a request',
    (v) =>
      `Error: apiRequestContext.post: socket hang up\nCall log:\n  - → POST http://127.0.0.1:3000/api/orders\n    - user-agent: Playwright/1.56.1\n    - accept: */*\n    - x-shop-key: ${v}`,
  ],
  ['step title of a filled password', (v) => `Fill "${v}" getByLabel('Password')`, 'Winter-Mond!47'],
  [
    'source of a filled password',
    (v) => `  > 12 |   await page.getByLabel('Password').fill('${v}');`,
    'Regen&Wolke93',
  ],
  ['fill by selector', (v) => `await page.fill('#password', '${v}')`, 'Nebel+Sonne58'],
  ['aria snapshot of a text box', (v) => `- textbox "Password": ${v}`, 'Hagel_Sturm61x'],
  [
    'toHaveValue of a key field',
    (v) =>
      `Error: expect(locator).toHaveValue(expected) failed\n\nLocator:  getByLabel('API key')\nExpected: ""\nReceived: "${v}"`,
  ],
  ['hidden field', (v) => `<input type="hidden" name="__RequestVerificationToken" value="${v}">`],
  ['password field, value first', (v) => `<input value="${v}" type="password" id="pw">`, 'Kiesel.Bach72'],
  ['meta tag', (v) => `<meta name="csrf-token" content="${v}" />`],
  ['HAR header', (v) => `{"name":"X-Api-Key","value":"${v}"}`],
  ['HAR cookie', (v) => `{ "name": "sid", "value": "${v}", "path": "/", "httpOnly": true }`],
  [
    'storage state',
    (v) =>
      `"cookies": [\n  {\n    "name": "__Secure-next-auth.session-token",\n    "value": "${v}",\n    "domain": "127.0.0.1"`,
  ],
  [
    'local storage in a storage state',
    (v) =>
      JSON.stringify({
        name: 'sb-shop-auth-token',
        value: JSON.stringify({ access_token: v, expires_in: 3600 }),
      }),
  ],
  ['document.cookie', (v) => `document.cookie = "remember_user=${v}; path=/; max-age=3600"`],
  ['JWT in a fragment', (v) => `page.goto: http://127.0.0.1:3000/cb#id_token=${v}&state=x1`, jwt(31)],
  ['JWT in a path', (v) => `GET http://127.0.0.1:3000/unsubscribe/${v} 404`, jwt(33)],
  ['authorization code', (v) => `navigated to "http://127.0.0.1:3000/callback?code=${v}&state=af0ifjsldkj"`],
  [
    'redirect in a query',
    (v) => `/login?next=${encodeURIComponent(`http://app.test/cb?access_token=${v}&x=1`)}`,
  ],
  ['web socket', (v) => `WebSocket connection to 'ws://127.0.0.1:3000/live?auth_token=${v}' failed`],
  ['copied as fetch', (v) => `fetch("http://shop.test", { "headers": { "x-session-token": "${v}" } });`],
  ['copied as curl of cmd', (v) => `curl ^"http://shop.test^" -H ^"authorization: Bearer ${v}^"`],
  [
    'copied as PowerShell',
    (v) => `Invoke-WebRequest -Uri "http://shop.test" -Headers @{\n  "Authorization"="Bearer ${v}"\n}`,
  ],
  [
    'multipart body',
    (v) => `------WebKit\r\nContent-Disposition: form-data; name="password"\r\n\r\n${v}\r\n------WebKit--`,
    'Tanne#Wald84',
  ],
  [
    'twice escaped JSON',
    (v) => JSON.stringify({ body: JSON.stringify({ req: JSON.stringify({ apiKey: v }) }) }),
  ],
];

/** What servers log. */
const logs: readonly Row[] = [
  [
    'pino request',
    (v) =>
      JSON.stringify({ level: 30, req: { headers: { cookie: `theme=dark; shop_sess=${v}` } }, msg: 'in' }),
  ],
  [
    'winston with meta',
    (v) => `2026-11-22T10:00:00.000Z [info]: login ok {"user":"ann","refreshToken":"${v}"}`,
  ],
  [
    'morgan combined',
    (v) =>
      `127.0.0.1 - - [22/Nov/2026:10:00:00 +0000] "GET /reset?reset_token=${v} HTTP/1.1" 200 12 "-" "curl/8"`,
  ],
  ['uvicorn, token in a path', (v) => `INFO:     127.0.0.1:51234 - "GET /auth/magic/${v} HTTP/1.1" 200 OK`],
  [
    'Rails of Ruby 3.4',
    (v) => `Parameters: {"user" => {"email" => "a@b.test", "password" => "${v}"}, "commit" => "Log in"}`,
    'Birke~Moor15',
  ],
  ['Spring request', (v) => `Before request [GET /api, headers=[x-auth-token:"${v}", accept:"*/*"]]`],
  [
    'Spring properties',
    (v) => `spring.datasource.username=shop\nspring.datasource.password=${v}`,
    'Ahorn%Blatt26',
  ],
  [
    'PHP stack frame',
    (v) => `#0 /var/www/db.php(12): PDO->__construct('mysql:host=db;dbname=shop', 'shop', '${v}', Array)`,
  ],
  ['PHP var_dump', (v) => `array(2) {\n  ["password"]=>\n  string(13) "${v}"\n}`, 'Eiche=Laub37z'],
  ['PHP print_r', (v) => `Array\n(\n    [user] => ann\n    [password] => ${v}\n)`, 'Linde@Duft48'],
  [
    'Laravel log context',
    (v) => `[2026-11-22 10:00:00] local.ERROR: failed {"api_token":"${v}","exception":"[object]"}`,
  ],
  ['Python locals', (v) => `    |     password   = '${v}'\n    |     user       = 'ann'`, 'Fichte*Harz59'],
  ['Go struct', (v) => `panic: bad config {Host:db User:shop Password:${v} Port:5432}`, 'Kiefer^Zapfen60'],
  ['Rust debug', (v) => `Config { host: "db", api_key: Some("${v}"), port: 3000 }`],
  ['Java record', (v) => `LoginRequest[username=ann, password=${v}, remember=true]`, 'Weide$Bach71'],
  ['Kotlin data class', (v) => `LoginRequest(username=ann, password=${v})`, 'Pappel-Allee82'],
  ['Elixir keywords', (v) => `[hostname: "db", username: "shop", password: "${v}"]`, 'Ulme?Ufer93'],
  [
    'EF Core parameters',
    (v) => `Executed DbCommand (2ms) [Parameters=[@__email_0='a@b.test', @__token_1='${v}' (Size = 450)]`,
  ],
  ['raw headers of Node', (v) => `rawHeaders: [ 'Host', 'shop.test', 'Authorization', 'Bearer ${v}' ]`],
  ['Map of headers', (v) => `Map(2) { 'host' => 'shop.test', 'x-api-key' => '${v}' }`],
  ['Next cookies', (v) => `[ { name: 'auth_token', value: '${v}' }, { name: 'theme', value: 'dark' } ]`],
  ['gRPC metadata', (v) => `UNAUTHENTICATED: Metadata(authorization=Bearer ${v},user-agent=grpc-java)`],
  [
    'inspect with colours',
    (v) => `{ user: \u001b[32m'ann'\u001b[39m, clientSecret: \u001b[32m'${v}'\u001b[39m }`,
  ],
  [
    'coloured in the middle',
    (v) => `api_key=${v.slice(0, 9)}\u001b[1;31m${v.slice(9, 13)}\u001b[0m${v.slice(13)}`,
  ],
  [
    'wrapped at the edge of a terminal',
    (v) => `x-api-key: ${v.slice(0, 64)}\n${v.slice(64)}\n\nGET / 200`,
    random(90, letters, 54),
  ],
  ['login that failed', (v) => `Login failed for ann@shop.test with password "${v}"`, 'Sommer-2031!'],
  ['seed script', (v) => `Seeded admin@shop.test with password ${v}`, 'Herbst-2032!'],
  ['credentials with a colon', (v) => `Test credentials: ann@shop.test:${v}`, 'Fruehling-33!'],
  ['one-time code', (v) => `Your verification code is ${v}.`, '482913'],
  [
    'one-time code in an SMS log',
    (v) => `[sms] to=+4915112345 body="${v} is your Shop login code"`,
    '739201',
  ],
  ['one-time code in JSON', (v) => `{"channel":"email","otp":"${v}"}`, '615408'],
  ['TOTP seed', (v) => `otpauth://totp/Shop:ann?secret=${v}&issuer=Shop`, random(32, base32, 61)],
  ['magic link', (v) => `Sign in: https://app.test/auth/confirm?token_hash=${v}&type=magiclink`],
  ['invitation link', (v) => `mail to b@b.test: https://app.test/invite/${v}`],
  ['password reset link', (v) => `https://app.test/users/password/edit/${v}`],
  [
    'GraphQL literal',
    (v) => `mutation { login(email: "a@b.test", password: "${v}") { id } }`,
    'Bergsee.2034',
  ],
  [
    'GraphQL variables',
    (v) => JSON.stringify({ query: 'mutation L($pw: String!) { l(pw: $pw) }', variables: { pw: v } }),
    'Talgrund.2035',
  ],
  ['GraphQL answer', (v) => `{"data":{"tokenAuth":{"token":"${v}","user":{"id":7}}}}`],
  ['SOAP', (v) => `<wsse:Password Type="#PasswordText">${v}</wsse:Password>`, 'Almwiese.2036'],
  [
    'SAML form',
    (v) => `<input type="hidden" name="SAMLResponse" value="${v}"/>`,
    base64(`<samlp:Response ID="_${random(32, hex, 70)}"><saml:Assertion/></samlp:Response>`),
  ],
  ['OAuth password grant', (v) => `grant_type=password&username=ann&password=${v}`, 'Quelle.2037'],
  ['Redis MONITOR', (v) => `1795000000.12 [0 127.0.0.1:5123] "AUTH" "${v}"`],
  ['SMTP conversation', (v) => `[smtp] C: AUTH PLAIN ${v}`, base64('\0ann@shop.test\0Gipfel.2038')],
  ['nodemailer options', (v) => `{ host: 'smtp.test', auth: { user: 'shop', pass: '${v}' } }`, 'Hang.2039'],
  ['SQL statement', (v) => `ALTER USER shop WITH PASSWORD '${v}';`, 'Kluft.2040'],
  ['MySQL statement', (v) => `CREATE USER 'shop'@'%' IDENTIFIED BY '${v}'`, 'Schlucht.2041'],
  ['SQL insert', (v) => `INSERT INTO users (email, api_token) VALUES ('a@b.test', '${v}') RETURNING id`],
];

/** Files of settings, and commands. */
const settings: readonly Row[] = [
  [
    'Python DSN',
    (v) => `(OperationalError) could not connect: mysql+pymysql://shop:${v}@db:3306/shop`,
    'Fels!2042',
  ],
  ['Redis DSN without a user', (v) => `ECONNREFUSED redis://:${v}@127.0.0.1:6379/0`],
  ['DSN with an @ in it', (v) => `postgres://shop:${v}@db:5432/shop`, 'Grat@2043!Nord'],
  ['Prisma data proxy', (v) => `prisma://accelerate.prisma-data.net/?api_key=${v}`],
  [
    'SQL Server JDBC',
    (v) => `jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password=${v};encrypt=true`,
    'Joch.2044',
  ],
  ['Oracle JDBC', (v) => `jdbc:oracle:thin:shop/${v}@//db:1521/XE`, 'Sattel.2045'],
  [
    'ADO.NET',
    (v) => `Server=db;Database=shop;User Id=sa;Pwd=${v};TrustServerCertificate=True`,
    'Scharte.2046',
  ],
  [
    'Azure storage',
    (v) => `AccountName=shop;AccountKey=${v}==;EndpointSuffix=core.windows.net`,
    random(86, letters, 83),
  ],
  [
    'SAS',
    (v) => `https://shop.blob.core.windows.net/a?sv=2024-11-04&sp=r&sig=${v}%3D`,
    random(43, letters, 84),
  ],
  [
    'presigned URL',
    (v) =>
      `https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature=${v}`,
    random(64, hex, 85),
  ],
  [
    'compose list',
    (v) => `    environment:\n      - MINIO_ROOT_USER=minio\n      - MINIO_ROOT_PASSWORD=${v}`,
    'Kamm.2047',
  ],
  ['compose map', (v) => `    environment:\n      KC_BOOTSTRAP_ADMIN_PASSWORD: ${v}`, 'Wand.2048'],
  ['.envrc', (v) => `export STRIPE_WEBHOOK_SECRET=${v}`, `whsec_${random(32, letters, 88)}`],
  ['.dev.vars', (v) => `RESEND_KEY="${v}"`, `re_${random(24, letters, 89)}`],
  ['terraform', (v) => `db_password = "${v}"`, 'Kante.2049'],
  ['TOML', (v) => `[shop]\nsigning_secret = '${v}'`],
  ['INI with spaces', (v) => `[smtp]\nsmtp_pass  =  ${v}`, 'Zinne.2050'],
  ['Maven settings', (v) => `<server><id>nexus</id><password>${v}</password></server>`, 'Turm.2051'],
  ['NuGet', (v) => `<add key="ClearTextPassword" value="${v}" />`, 'Nadel.2052'],
  ['npmrc', (v) => `//npm.shop.test/:_authToken=${v}`, uuid(95)],
  ['npmrc, basic', (v) => `//npm.shop.test/:_auth=${v}`, base64('ann:Zacken.2053')],
  ['yarnrc', (v) => `npmScopes:\n  shop:\n    npmAuthToken: "${v}"`],
  [
    'pypirc',
    (v) => `[pypi]\nusername = __token__\npassword = ${v}`,
    `pypi-AgEIcHlwaS5vcmc${random(60, letters, 98)}`,
  ],
  ['pip index', (v) => `Looking in indexes: https://__token__:${v}@pypi.shop.test/simple`],
  ['docker config', (v) => `{"auths":{"ghcr.io":{"auth":"${v}"}}}`, base64('ann:Spitze.2054')],
  ['netrc', (v) => `machine api.test login ann password ${v}`, 'Dohle.2055'],
  ['netrc over lines', (v) => `machine api.test\n  login ann\n  password ${v}`, 'Rabe.2056'],
  ['Kubernetes secret', (v) => `kind: Secret\nmetadata:\n  name: shop\ndata:\n  session: ${base64(v)}\n`],
  [
    'kubeconfig',
    (v) => `users:\n- name: ci\n  user:\n    client-key-data: ${v}`,
    base64(random(60, letters, 104)),
  ],
  ['curl with a user', (v) => `curl -sS -u ann:${v} https://shop.test`, 'Adler.2057'],
  ['curl with a cookie', (v) => `curl -b 'connect.sid=s%3A${v}' https://shop.test`],
  ['GitLab header', (v) => `curl -H 'PRIVATE-TOKEN: ${v}' https://git.test`],
  ['mysql -p', (v) => `+ mysql -uroot -p${v} shop < dump.sql`, 'Falke.2058'],
  ['redis-cli -a', (v) => `redis-cli -h db -a ${v} ping`, 'Milan.2059'],
  ['sshpass', (v) => `sshpass -p '${v}' ssh ann@shop.test`, 'Bussard.2060'],
  ['docker login', (v) => `docker login -u ann -p ${v} ghcr.io`, 'Sperber.2061'],
  ['long flag', (v) => `prog --db-password ${v} --verbose`, 'Habicht.2062'],
  ['openssl', (v) => `openssl rsa -in k.pem -passin pass:${v}`, 'Weihe.2063'],
  ['Okta header', (v) => `Authorization: SSWS ${v}`],
  ['signature header', (v) => `Stripe-Signature: t=1795000000,v1=${v}`, random(64, hex, 115)],
];

/** Keys of providers, by themselves in a sentence, and PEM. */
const keys: readonly Row[] = [
  ['DigitalOcean', (v) => `client made with ${v}`, `dop_v1_${random(64, hex, 120)}`],
  ['Fly.io', (v) => `deploy with FlyV1 ${v}`, `fm2_${random(120, letters, 121)}`],
  ['PlanetScale', (v) => `pscale said 401 to ${v}`, `pscale_tkn_${random(43, letters, 122)}`],
  ['Doppler', (v) => `doppler run with ${v}`, `dp.pt.${random(43, letters, 123)}`],
  ['Netlify', (v) => `netlify: ${v} was refused`, `nfp_${random(36, letters, 124)}`],
  ['Grafana', (v) => `grafana: ${v} was refused`, `glsa_${random(32, letters, 125)}_${random(8, hex, 126)}`],
  ['Databricks', (v) => `databricks: ${v} was refused`, `dapi${random(32, hex, 127)}`],
  ['Vault', (v) => `vault login ${v}`, `hvs.${random(90, letters, 128)}`],
  ['Groq', (v) => `groq: ${v} was refused`, `gsk_${random(52, letters, 129)}`],
  ['OpenRouter', (v) => `router: ${v} was refused`, `sk-or-v1-${random(64, hex, 130)}`],
  ['Hugging Face', (v) => `hub: ${v} was refused`, `hf_${random(34, letters, 131)}`],
  ['Notion', (v) => `notion: ${v} was refused`, `ntn_${random(46, letters, 132)}`],
  ['Linear', (v) => `linear: ${v} was refused`, `lin_api_${random(40, letters, 133)}`],
  ['Supabase', (v) => `supabase link with ${v}`, `sbp_${random(40, hex, 134)}`],
  [
    'Telegram',
    (v) => `POST https://api.telegram.org/bot712345678:${v}/sendMessage`,
    `AA${random(33, letters, 135)}`,
  ],
  [
    'Discord',
    (v) => `POST https://discord.com/api/webhooks/1234567890123456789/${v}`,
    random(68, letters, 136),
  ],
  [
    'Teams',
    (v) =>
      `https://shop.webhook.office.com/webhookb2/${uuid(137)}@${uuid(138)}/IncomingWebhook/${v}/${uuid(139)}`,
    random(32, hex, 140),
  ],
  ['Cloudinary', (v) => `cloudinary://123456789012345:${v}@shop`, random(27, letters, 141)],
  ['age', (v) => `# public key: age1x\n${v}`, `AGE-SECRET-KEY-1${random(58, upper, 142)}`],
  [
    'PEM in one line of JSON',
    (v) => `{"private_key":"-----BEGIN PRIVATE KEY-----\\n${v}\\n-----END PRIVATE KEY-----\\n"}`,
    random(64, letters, 143),
  ],
  [
    'PEM whose lines became blanks',
    (v) =>
      `KEY=-----BEGIN OPENSSH PRIVATE KEY----- ${v.slice(0, 70)} ${v.slice(70)} -----END OPENSSH PRIVATE KEY-----`,
    random(140, letters, 144),
  ],
  [
    'PEM cut off',
    (v) => `-----BEGIN RSA PRIVATE KEY-----\n${v.slice(0, 64)}\n${v.slice(64)}\n`,
    random(128, letters, 145),
  ],
  ['session id by name', (v) => `Cookie: PHPSESSID=${v}`, random(26, lower, 146)],
  [
    'ASP.NET cookie',
    (v) => `set-cookie: .AspNetCore.Identity.Application=${v}; path=/; httponly`,
    `CfDJ8${random(80, letters, 147)}`,
  ],
  ['PIN', (v) => `{"card":"main","pin":"${v}"}`, random(4, digits, 148)],
];

/** A third set, kept back while the rules were made, and written without looking at them or at the other sets. */
export function thirdPlants(): Plant[] {
  return [...page, ...logs, ...settings, ...keys].map(([name, carry, value], index) => {
    const secret = value ?? random(20, letters, 200 + index);
    return planted('third set', name, secret, carry(secret));
  });
}
