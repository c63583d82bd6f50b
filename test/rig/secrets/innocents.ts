/**
 * What an agent has to read as it is: nothing of it may be masked. One a line; `⏎` stands for a line break, `§` for a dollar sign, `´` for a
 * backtick. The first sixty are kinds that were once masked, and their neighbours: times after a code, names of people, ids of tickets.
 */
export const innocents: readonly string[] = String.raw`
exited with code 2026-11-25T10:09:30Z
[server] closed with code 1006 at 2026-11-25T10:09:30Z
the code 2026-11-25 10:09:30.123 ERROR connection lost
verification code 2026-11-25T10:09:30Z sent to ann@shop.test
login code: 2026-11-25T10:09:30.000Z GET /login 200
Process finished with exit code 134 (interrupted by signal 6: SIGABRT)
error code 1045 (28000): Access denied for user 'app'@'localhost' (using password: YES)
Your order 20261125 was confirmed, code 7 of 12
{"code":2026,"status":"confirmed","session":"2026-11-25T10:09:30Z"}
"authorization": "2026-11-25T10:09:30Z"
Author: Ann Secretova <ann.secretova@shop.test>
Author: Paul Keyes <paul.keyes1984@shop.test>
Co-authored-by: Token Smith <12345678+tokensmith@users.noreply.github.com>
commit 4f2d9c1b7e6a5038d1c2b3a49586776655443322 by Secret Agent Brown
author="Jane Passwater" committer="Jane Passwater" date="2026-11-25"
git blame: 4f2d9c1b (Tom Credson 2026-11-25 10:09:30 +0100 12) const code = 7;
Signed-off-by: Sid Session <sid@shop.test>
{"author":{"name":"Ann Keyser","email":"ann.keyser@shop.test"},"message":"Rename token"}
Ticket SHOP-20417 was reopened
Ticket 3f2504e0-4f89-41d3-9a0c-0305e82c3301 was closed by ann
ticket: JIRA-4711, session 12 of the conference
Ticket #9f8e7d6c5b4a assigned to the auth team
{"ticket":"INC0012345","priority":"P1","assignee":"ann"}
https://shop.atlassian.net/browse/AUTH-1234?focusedCommentId=20417
expected sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
md5 5d41402abc4b2a76b9719d911017c592  auth/token.ts
etag: "33a64df551425fcc55e4d42a148795d9f25f89d4", cache key hit
resolved https://registry.npmjs.org/keyv/-/keyv-4.5.4.tgz integrity sha512-oxVHkHR/EJf2CNXnWxRLW6mg7JyCCUcG0DtEGmL2ctUo1PNTin1PUil+r/+4r5MpVgC/fn1kjsx7mjSujKqIpw==
docker pull shop/auth@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
session of user 018f6b2e-6c1d-7a3e-9d0b-1f2e3d4c5b6a ended
x-request-id: 01JD8Z4K3M5N6P7Q8R9S0T1V2W, cf-ray: 8e7f6a5b4c3d2e1f-FRA
trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7 name=auth.login
price_1MoBy5LkdIwHu7ixZhnattbh for cus_NffrFeUfNV2Hib (pi_3MtwBwLkdIwHu7ix28a3tqPa)
chatcmpl-9lX3k2Jh8Gf7Ds6Aq1Zw0Xe4Rt answered msg_01XFDUDYJgAACzvnptvVoYEL
user_2abCDeFgHiJkLmNoPqRsTuVwXyZ signed in
SELECT token_id, password_changed_at FROM auth.sessions WHERE user_id = '018f6b2e-6c1d-7a3e-9d0b-1f2e3d4c5b6a'
INSERT INTO codes (code, label) VALUES ('E2026', 'expired'), ('E2027', 'revoked')
UPDATE users SET password_hash = crypt(§1, gen_salt('bf')) WHERE id = 7 RETURNING id
ERROR:  column "session_key" does not exist at character 42 (SQLSTATE 42703)
CREATE POLICY "own tokens" ON public.tokens USING (auth.uid() = user_id);
permission denied for schema auth (code=42501)
/home/ann/shop/node_modules/.pnpm/jsonwebtoken@9.0.2/node_modules/jsonwebtoken/verify.js:171:19
C:\new\secrets\token\password.ts(12,5): error TS2304: Cannot find name 'apiKey'.
src/features/password-reset/__tests__/token.spec.ts:14:5 › resets the password
file:///srv/app/.next/server/chunks/auth-login_3f2a1b9c8d7e.js:1:20417
test-results/login-rejects-a-wrong-password-chromium/error-context.md
GET /api/session 401 12ms code=UNAUTHORIZED
HTTP/1.1 403 Forbidden: token scope read:orders is missing
{"statusCode":429,"code":"RATE_LIMITED","retryAfter":30,"key":"ip:10.0.0.7"}
PostgREST code=PGRST301 message=JWT expired at 2026-11-25T10:09:30Z
.token.string{color:#a31515} .password-field::after{content:"\f023";font-family:FA5}
:root { --auth-primary: oklch(0.7 0.15 142.5); --key-size: 2.5rem; }
<input class="pin-input_pin__a1B2c session-card--x9Y8" data-key="2026-11-25" inputmode="numeric">
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==
url(data:font/woff2;base64,d09GMgABAAAAAAPkAA8AAAAAB1QAAAOIAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAA) format("woff2")
content-type: multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW
<svg id="key-2026"><path d="M7 14a2 2 0 1 0 4 0 2 2 0 0 0-4 0zM12.65 10A5.99 5.99 0 0 0 7 6"/></svg>
Received string: "Session 2026-11-25T10:09" Expected pattern: /Session \d{4}/
await expect(page.getByTestId('otp-2026')).toHaveText('Code 493 of 500');
version 5.29.0-next.3, auth module 2.1.0, secret-store 0.9.14
- textbox "Ticket": SHOP-20417
- cell "2026-11-25 10:09" [ref=e41]
const { data: session, status } = useSession();
expect(response.status()).toBe(401);
await expect(page.getByText('Wrong password')).toBeVisible();
test.describe('token refresh', () => {
password: faker.internet.password(),
secret: config.get('auth.secret'),
apiKey = os.getenv("API_KEY")
String token = jwtService.generateToken(user);
token := r.Header.Get("Authorization")
def authenticate(token) = User.find_by(api_token: token)
password_digest character varying not null
SELECT count(*) FROM refresh_tokens WHERE revoked = false
Unknown argument 'accessToken'. Did you mean 'accessTokens'?
Module not found: Can't resolve './components/PasswordField'
TypeError: secret.split is not a function
Hydration failed: <input type="password"> in <form id="login">
{"statusCode":401,"error":"Unauthorized","message":"Missing authentication"}
{"errors":[{"path":["password"],"code":"too_small","minimum":8}]}
{"keyCode":13,"key":"Enter","code":"Enter"}
{"state":"authenticated","authMethod":"password"}
Bypassing cache: key=products:list:page=2
npm ERR! code ERESOLVE
session 4f2a opened for user root
GET /api/keys?limit=20 200 in 12ms
img src="/icons/key-24.svg" alt="Key"
--color-token-primary: #3366ff;
We sent a verification code to ann@shop.test
Room 2041, table 12, seat 4
while ((token = lexer.next()) !== null) tokens.push(token);
const password = await bcrypt.hash(form.password, saltRounds);
export const loginSchema = z.object({ email: z.email(), password: z.string().min(12, 'password.tooShort') });
await page.locator('input[name="password"]').fill(process.env.TEST_PASSWORD ?? '');
<div data-testid="password-strength-meter" class="pw-meter pw-meter--weak" aria-label="Password strength"></div>
- link "Forgot your password?" [ref=e22] [cursor=pointer]:⏎    - /url: /users/password/new
commit 4f2d9c1b7e6a5038d1c2b3a49586776655443322
index 83db48f..bf269f4 100644
resolved "https://registry.npmjs.org/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz#65ff91f4abef1784697d40952bb1998c504caaf3"
GET http://127.0.0.1:3000/assets/index-B4xQ9zLk.js net::ERR_ABORTED 404 (Not Found)
{"error":{"code":"auth/wrong-password","message":"The password is invalid or the user does not have a password."}}
password_reset: "Reset your password"
The password must be at least 8 characters long and contain a number.
    at PasswordField.validate (http://127.0.0.1:3000/src/components/PasswordField.tsx?t=1795000000000:42:13)
ReferenceError: apiKey is not defined
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
password character varying(255) NOT NULL,
add_column :users, :reset_password_token, :string
@Value("§{app.jwt.secret}") private String jwtSecret;
    env:⏎      API_TOKEN: §{{ secrets.API_TOKEN }}
password=os.environ["DB_PASSWORD"],
'Authorization': 'Bearer ' + session.accessToken,
set-cookie: theme=dark; Path=/; SameSite=Lax
Content-Security-Policy: script-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
Expected substring: "Wrong password"⏎Received string:    "Please log in"
{"passwordPolicy":{"minLength":12,"maxLength":128,"requireDigits":true},"sessionTimeout":1800}
const passwordInput = page.locator('[data-cy="login-password"]');
[vite] hmr update /src/features/auth/usePassword.ts, /src/tokens.css
Missing environment variable: STRIPE_SECRET_KEY
DEBUG com.zaxxer.hikari.HikariConfig - password........................<masked>
env:⏎  NPM_TOKEN: ***⏎  CI: true
"Image": "sha256:3d5839bdb47f60b62d828308f3d0f7a2d2f39e9232b9052d057ca2b69a18397c",
pino({ redact: ['req.headers.authorization', 'req.body.password'] })
error[E0308]: mismatched types: expected ´SecretString´, found ´&str´
NullPointerException: Cannot invoke "com.shop.Token.getValue()" because "token" is null
Host github.com⏎  IdentityFile ~/.ssh/id_ed25519⏎  PasswordAuthentication no
resource "aws_secretsmanager_secret" "db" {⏎  name = "shop/db/password"⏎}
Cookie “sid” has been rejected because it is in a cross-site context and its “SameSite” is “Lax”.
x-ratelimit-remaining-tokens: 149984
-  session: { strategy: "jwt" },⏎+  session: { strategy: "database" },
func (s *Server) Login(ctx context.Context, password string) (token string, err error) {
echo "§TOKEN" | docker login --username ann --password-stdin ghcr.io
password: z.string().min(8)
GET /orders?code=404
const token = await getToken(); if (!token) throw new Error("no token");
<PasswordInput password={password} onChange={setPassword} />
type Secret = { secret: Buffer; key: CryptoKey };
passwordHash: text('password_hash').notNull(),
errors: { password: 'Password must be at least 8 characters' }
locator('input[name="password"]') resolved to 2 elements
Error: Invalid password: too short
Error: Missing required parameter: apiKey
Error: secretOrPrivateKey must have a value
Type '{ token: string | null; }' is not assignable to type 'Session'.
src/auth.ts:12:5 - error TS2322: Type 'string' is not assignable to type 'Token'.
usage: prompt_tokens=120 completion_tokens=44
{"keys":["id","name"],"primaryKey":"id","foreignKey":"user_id"}
event.key === 'Enter' && submit()
<Route key="checkout" path="/checkout" />
const cacheKey = ´user:§{id}´;
Key (email)=(ann@shop.test) already exists.
ERROR: relation "password_resets" does not exist
password text not null, token varchar(255), secret bytea
order 3f2504e0-4f89-41d3-9a0c-0305e82c3301 was not found
GET /rest/v1/orders?select=*&order=created_at.desc&limit=10 → 404 code=PGRST116
postgres://app@localhost:5432/shop?sslmode=disable
the user postgres connects to localhost as root, true or false, 5432 or 3000
at validateToken (/srv/app/src/auth/token.ts:42:11)
at async login (webpack-internal:///./src/pages/api/login.ts:17:20)
/run/secrets/db_password is missing
https://vault.shop.test:8200 is not reachable
the layout de-latin1-nodeadkeys
x-request-id: 7b1f0e9c-2d3a-4a5b-8c6d-0e1f2a3b4c5d
strict-transport-security: max-age=31536000; includeSubDomains
class="text-sm font-medium px-4 py-2 rounded-md key-cap"
invoice 20261121000123456789012345 for 4111 units
Order number: 493021, 3 items, total 129.90
phone +49 151 23456789, zip 80331, IBAN of the shop
Expected string: "Token saved" Received string: "Token not saved"
- button "Show password" [ref=e12]
Basic authentication is required; Bearer of bad news
Authorization header is missing
cookie: SameSite=Lax is recommended
import { Token, TokenType } from './token';
export function isSecretName(name: string): boolean {
private readonly apiKey: string,
const secret = crypto.randomBytes(32).toString('hex');
req.headers.authorization?.split(' ')[1]
res.cookie('session', token, { httpOnly: true, sameSite: 'lax' });
localStorage.getItem('access_token')
run: echo "§API_KEY" | wc -c
export API_KEY=§(cat /run/secrets/api_key)
OPENAI_API_KEY=sk-...
password: [hidden]
token=%s password=%s
npm warn config --token is deprecated
String password = request.getParameter("password");
public string Password { get; set; }
tokens: 4096, token limit: 8192, tokenizer: cl100k_base
pwd: /home/ann
the signature of the function changed
process exited with code=137 signal=SIGKILL
const statusCode = 404, errorCode = 'E1234';
<InputOTP maxLength={6} value={otp} />
pin: top-left
sk-eleton loader, sk-ip link
diff --git a/src/login.ts b/src/login.ts⏎@@ -1,3 +1,3 @@⏎-  const token = null;⏎+  const token = await login(user, password);⏎   return token;
  12 |   await page.getByLabel("Password").fill(user.password);⏎> 13 |   await page.getByRole("button").click();⏎     |                                  ^
openapi:⏎  securitySchemes:⏎    apiKey:⏎      type: apiKey⏎      name: X-Api-Key⏎      in: header
name,password_set⏎ann,yes
`
  .trim()
  .split('\n')
  .map((line) => line.replaceAll('⏎', '\n').replaceAll('§', '$').replaceAll('´', '`'));
