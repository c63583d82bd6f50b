import { letters, planted, pseudoRandom, type Plant } from './plant.js';

type Carry = (value: string) => string;

/** A second set, written when the rules were done and without looking at them: what they miss here they miss elsewhere. */
const carriers: Readonly<Record<string, Carry>> = {
  'Spring log': (v) => `o.s.security : Using generated security password: ${v}`,
  'Rails params': (v) => `Parameters: {"authenticity_token"=>"${v}", "user"=>{"email"=>"a@b.test"}}`,
  'Rails secret_key_base': (v) => `secret_key_base: ${v}`,
  'Django setting': (v) => `SECRET_KEY = 'django-insecure-${v}'`,
  'Flask config': (v) => `<Config {'DEBUG': True, 'SECRET_KEY': '${v}'}>`,
  'Laravel APP_KEY': (v) => `APP_KEY=base64:${v}=`,
  'Symfony APP_SECRET': (v) => `APP_SECRET=${v}`,
  'Express session options': (v) => `session({ secret: '${v}', resave: false })`,
  'passport config': (v) => `new GoogleStrategy({ clientID: 'x', clientSecret: "${v}" })`,
  'NextAuth JSON session': (v) =>
    JSON.stringify({ user: { name: 'Ann' }, accessToken: v, expires: '2026-12-01' }),
  'OIDC token response': (v) =>
    JSON.stringify({ token_type: 'Bearer', expires_in: 300, id_token: v, scope: 'openid' }),
  'OIDC refresh': (v) => `grant_type=refresh_token&refresh_token=${v}&client_id=web`,
  'PKCE verifier': (v) => `grant_type=authorization_code&code_verifier=${v}`,
  'client credentials': (v) => `client_id=web&client_secret=${v}&grant_type=client_credentials`,
  'SAML response': (v) => `SAMLResponse=${v}${v}${v}`,
  'Firebase login': (v) => JSON.stringify({ email: 'a@b.test', password: v, returnSecureToken: true }),
  'Firebase idToken': (v) => JSON.stringify({ kind: 'identitytoolkit#VerifyPasswordResponse', idToken: v }),
  'Supabase header': (v) => `apikey: ${v}`,
  'Supabase session': (v) => JSON.stringify({ currentSession: { access_token: v, provider_token: null } }),
  'Axios dump': (v) => `  headers: {\n    'X-CSRF-Token': '${v}',\n    Accept: 'application/json'\n  }`,
  'fetch Headers entries': (v) =>
    JSON.stringify([
      ['accept', '*/*'],
      ['authorization', `Bearer ${v}`],
    ]),
  'HTTP/2 frame': (v) => `:method: GET\n:path: /\nauthorization: Bearer ${v}`,
  'wget header': (v) => `wget --header="X-Auth-Token: ${v}" http://shop.test`,
  httpie: (v) => `http -a ann:${v} GET shop.test/api`,
  'curl oauth2': (v) => `curl --oauth2-bearer ${v} http://shop.test`,
  'curl form': (v) => `curl -F password=${v} http://shop.test/login`,
  'psql url in quotes': (v) => `psql 'postgresql://app:${v}@127.0.0.1:5432/shop'`,
  'pg_dump env': (v) => `env PGPASSWORD='${v}' pg_dump shop`,
  'mysql long flag': (v) => `mysqldump --user=app --password='${v}' shop`,
  'mongo shell': (v) => `mongosh --username app --password ${v} --authenticationDatabase admin`,
  'redis conf': (v) => `requirepass ${v}`,
  'redis AUTH': (v) => `redis> AUTH ${v}`,
  'kubectl secret': (v) => `kubectl create secret generic db --from-literal=password=${v}`,
  'k8s env': (v) => `- name: DB_PASSWORD\n  value: "${v}"`,
  'docker compose list': (v) => `environment:\n  - POSTGRES_PASSWORD=${v}`,
  'docker inspect': (v) => JSON.stringify({ Env: ['PATH=/usr/bin', `API_TOKEN=${v}`] }),
  'terraform var': (v) => `db_password = "${v}"`,
  'terraform plan': (v) => `+ master_password = "${v}"`,
  'ansible var': (v) => `ansible_become_pass: ${v}`,
  'helm set': (v) => `helm upgrade shop . --set auth.password=${v}`,
  'gradle property': (v) => `signing.password=${v}`,
  'maven settings': (v) => `<server><id>x</id><username>u</username><password>${v}</password></server>`,
  'pip index': (v) => `pip install --index-url https://user:${v}@pypi.test/simple x`,
  yarnrc: (v) => `npmAuthToken: "${v}"`,
  'npm login env': (v) => `NODE_AUTH_TOKEN=${v} npm publish`,
  'git credential': (v) => `protocol=https\nhost=git.test\nusername=ann\npassword=${v}`,
  'git remote': (v) => `origin  https://oauth2:${v}@gitlab.test/shop.git (fetch)`,
  'ssh config line': (v) => `echo '${v}' | sudo -S id # password ${v}`,
  'aws cli': (v) => `aws configure set aws_secret_access_key ${v}`,
  'aws json': (v) => JSON.stringify({ AccessKeyId: 'x', SecretAccessKey: v, SessionToken: `${v}q` }),
  'azure json': (v) => JSON.stringify({ appId: 'x', tenant: 'y', clientSecret: v }),
  'S3 presigned': (v) => `https://x.s3.test/a?AWSAccessKeyId=x&Expires=1&Signature=${v}%3D`,
  'CloudFront signed': (v) => `https://cdn.test/a?Policy=x&Signature=${v}~&Key-Pair-Id=K`,
  'Stripe client secret': (v) => JSON.stringify({ client_secret: `pi_3abc_secret_${v}` }),
  'webhook secret JSON': (v) => JSON.stringify({ webhook: { url: 'http://x', signingSecret: v } }),
  'Slack slash token': (v) => `token=${v}&team_id=T1&command=%2Fdeploy`,
  'Twilio auth': (v) => `twilio(accountSid, '${v}') // authToken: '${v}'`,
  'SMTP AUTH LOGIN': (v) => `AUTH PLAIN ${Buffer.from(`\0ann\0${v}`).toString('base64')}`,
  nodemailer: (v) => `auth: { user: 'ann@shop.test', pass: '${v}' }`,
  'IMAP LOGIN': (v) => `a1 LOGIN ann@shop.test ${v}`,
  'FTP PASS': (v) => `> USER ann\n> PASS ${v}`,
  'LDAP bind': (v) => `ldapsearch -D cn=admin -w ${v} -b dc=test`,
  'LDAP url option': (v) => `bindPassword="${v}"`,
  ODBC: (v) => `DRIVER={x};SERVER=db;UID=sa;PWD=${v}`,
  'JDBC sqlserver': (v) => `jdbc:sqlserver://db:1433;user=sa;password=${v};encrypt=true`,
  'Hibernate prop': (v) => `hibernate.connection.password ${v}`,
  'Java toString nested': (v) => `LoginRequest{username='ann', password='${v}'}`,
  'Kotlin data class': (v) => `Credentials(user=ann, apiToken=${v})`,
  'C# record': (v) => `LoginModel { User = ann, Password = ${v} }`,
  'Elixir map': (v) => `%{"password" => "${v}", "user" => "ann"}`,
  'Elixir keyword': (v) => `[username: "ann", password: "${v}"]`,
  'PHP print_r': (v) => `Array\n(\n    [user] => ann\n    [password] => ${v}\n)`,
  'PHP serialize': (v) => `s:8:"password";s:24:"${v}";`,
  'Go %+v pointer': (v) => `&{User:ann Password:${v} TTL:0s}`,
  'Go map': (v) => `map[password:${v} user:ann]`,
  'Rust debug tuple': (v) => `Some(Secret("${v}"))`,
  'Python dataclass': (v) => `Login(user='ann', password='${v}')`,
  'Python pydantic error': (v) =>
    `password\n  String should have at most 8 characters [type=string_too_long, input_value='${v}', input_type=str]`,
  'zod issue': (v) => JSON.stringify({ path: ['password'], received: v, code: 'custom' }),
  'GraphQL response': (v) => JSON.stringify({ data: { login: { token: v, user: { id: 1 } } } }),
  'tRPC batch': (v) =>
    `/api/trpc/login?batch=1&input=${encodeURIComponent(JSON.stringify({ 0: { json: { password: v } } }))}`,
  'WebSocket frame': (v) => `42["auth",{"token":"${v}"}]`,
  'socket.io query': (v) => `ws://shop.test/socket.io/?EIO=4&token=${v}&transport=websocket`,
  'SSE url': (v) => `EventSource('/events?access_token=${v}')`,
  'localStorage dump': (v) => `localStorage: { "auth": "{\\"token\\":\\"${v}\\",\\"user\\":1}" }`,
  'redux state': (v) => `{auth: {…}, session: {token: "${v}"}}`,
  'zustand persist': (v) => JSON.stringify({ state: { apiKey: v }, version: 0 }),
  'console.table': (v) => `│ 0 │ 'token' │ '${v}' │`,
  'assert diff': (v) => `- Expected\n+ Received\n\n  Object {\n+   "password": "${v}",\n  }`,
  toHaveBeenCalledWith: (v) => `Expected: {"password": "x"}\nReceived: {"password": "${v}"}`,
  'expect header': (v) => `expect(headers).toEqual({ 'x-api-key': '${v}' })`,
  'storageState file': (v) =>
    JSON.stringify({ origins: [{ origin: 'http://x', localStorage: [{ name: 'token', value: v }] }] }),
  'page.evaluate': (v) => `await page.evaluate((t) => localStorage.setItem('jwt', t), '${v}')`,
  extraHTTPHeaders: (v) => `extraHTTPHeaders: { Authorization: 'token ${v}' }`,
  httpCredentials: (v) => `httpCredentials: { username: 'ann', password: '${v}' }`,
  'request.post data': (v) => `await request.post('/login', { data: { user: 'ann', passwd: '${v}' } })`,
  'aria snapshot': (v) => `- textbox "API key": ${v}`,
  'aria snapshot quoted': (v) => `- 'textbox "Secret: value"': ${v}`,
  'label above': (v) => `Password\n${v}\nSign in`,
  'copy your key': (v) => `Your API key: ${v} (shown once)`,
  'new secret': (v) => `Client secret created: ${v}`,
  'temporary password': (v) => `Your temporary password is ${v}.`,
  'use token': (v) => `Use token ${v} to sign in`,
  'reset mail': (v) => `http://shop.test/password/reset?token=${v}&email=a%40b.test`,
  'verify link': (v) => `http://shop.test/verify-email/${v}`,
  'unsubscribe sig': (v) => `http://shop.test/u?id=7&sig=${v}`,
  'invite path': (v) => `http://shop.test/invite/${v}/accept`,
  'otp sms': () => 'G-493021 is your Google verification code.',
  'otp dashed': () => 'Your login code: 493-021',
  'otp log': () => 'twoFactorCode=493021 accepted',
  'otp JSON number': () => JSON.stringify({ mfaCode: 493021 }),
};

/** Each with a secret of its own. */
export function secondPlants(): Plant[] {
  return Object.entries(carriers).map(([spelling, carry], at) => {
    const value = `${pseudoRandom(20, letters, 9000 + at)}Q4w`;
    const text = carry(value);
    const isCode = carry(value) === carry('');
    return planted('second set', spelling, isCode ? (/493-?021/.exec(text)?.[0] ?? '') : value, text);
  });
}

/** The same for what may not be masked. */
export const secondHarmless: readonly string[] = String.raw`
const passwordSchema = z.string().min(12, { message: 'Use at least 12 characters' });
const { data: session, status } = useSession();
if (!session?.user) redirect('/login?callbackUrl=/cart');
expect(response.status()).toBe(401);
expect(await page.locator('#password').inputValue()).toBe('');
await expect(page.getByText('Wrong password')).toBeVisible();
await expect(page.getByLabel('Password')).toHaveValue('');
test('rejects a wrong password', async ({ page }) => {
test.describe('token refresh', () => {
type Credentials = Pick<User, 'email' | 'password'>;
export type ApiKey = { id: string; name: string; lastUsedAt: Date | null };
password: faker.internet.password(),
token: expect.any(String),
token: expect.stringMatching(/^ey/),
secret: config.get('auth.secret'),
apiKey: import.meta.env.VITE_API_KEY,
apiKey = os.getenv("API_KEY")
api_key = settings.API_KEY
String token = jwtService.generateToken(user);
var token = await _tokenService.CreateAsync(user);
$token = $request->bearerToken();
token := r.Header.Get("Authorization")
let token = req.headers().get("authorization");
def authenticate(token) = User.find_by(api_token: token)
@Column({ name: 'password_hash', select: false }) passwordHash: string;
password_digest character varying not null
INSERT INTO users (email, password_hash) VALUES ($1, $2)
SELECT count(*) FROM refresh_tokens WHERE revoked = false
null value in column "password_hash" of relation "users" violates not-null constraint
column users.reset_token does not exist
Unknown argument 'accessToken'. Did you mean 'accessTokens'?
error TS2339: Property 'apiKey' does not exist on type 'Config'.
error TS2345: Argument of type '{ password: string; }' is not assignable
Module not found: Can't resolve './components/PasswordField'
Cannot find name 'authToken'. Did you mean 'AuthToken'?
TypeError: secret.split is not a function
Error: Cannot read token of undefined at /app/src/lib/auth.ts:88:13
Hydration failed: <input type="password"> in <form id="login">
401 Unauthorized: invalid api key
{"message":"No API key found in request","hint":"No apikey request header or url param was found."}
{"statusCode":401,"error":"Unauthorized","message":"Missing authentication"}
{"code":"P2002","meta":{"target":["email"]}}
{"errors":[{"path":["password"],"code":"too_small","minimum":8}]}
{"type":"password_reset","status":"sent"}
{"keyCode":13,"key":"Enter","code":"Enter"}
{"code":"KeyA","ctrlKey":true,"location":0}
{"passRate":0.98,"passed":49,"failed":1}
{"state":"authenticated","authMethod":"password"}
pass: 12, fail: 3, skip: 1
PASS src/auth/token.test.ts (5.2 s)
Bypassing cache: key=products:list:page=2
cache-key: v3-node-modules-linux-x64
npm ERR! code ERESOLVE
error code: 0x80070005
session 4f2a opened for user root
[auth] login ok user=ann role=admin method=password
GET /api/keys?limit=20 200 in 12ms
GET /_next/static/chunks/pages/login-5f2c1d9a8b7e6f40.js 404
http://localhost:3000/auth/sign-in?redirect=%2Fcheckout
img src="/icons/key-24.svg" alt="Key"
.password-toggle { position: absolute; right: 8px }
--color-token-primary: #3366ff;
Sign in with your password or a one-time code
We sent a verification code to ann@shop.test
Order #493021 is on its way
Room 2041, table 12, seat 4
pinned: true, pinCount: 4
function tokenize(input: string): Token[] {
while ((token = lexer.next()) !== null) tokens.push(token);
The secret ingredient is 250 g butter
`
  .split('\n')
  .filter((line) => line !== '');
