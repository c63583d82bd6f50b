import { fourthHarmless } from './fourth-set.js';
import { secondHarmless } from './second-set.js';
import { thirdHarmless } from './third-harmless.js';

/** What an agent has to read as it is: nothing of it may be masked. One a line, but for those with lines of their own. */
const lines = String.raw`
password: z.string().min(8)
apiKey: process.env.API_KEY
(token: string, password: string) {
GET /orders?code=404
session=active
const token = await getToken(); if (!token) throw new Error("no token");
const password = form.get('password');
const { token, secret } = req.body;
return jwt.sign(payload, process.env.JWT_SECRET, { expiresIn: '1h' });
if (password !== confirmPassword) setError('Passwords do not match');
<input type="password" name="password" autocomplete="current-password" placeholder="Password">
<PasswordInput password={password} onChange={setPassword} />
interface Login { email: string; password: string; token?: string | null }
type Secret = { secret: Buffer; key: CryptoKey };
export const schema = z.object({ password: z.string(), apiKey: z.string().optional() });
password: { type: String, required: true, select: false },
passwordHash: text('password_hash').notNull(),
password: yup.string().required('Password is required'),
{ "password": "Password is required", "token": "Invalid token" }
errors: { password: 'Password must be at least 8 characters' }
"forgotPassword": "Forgot your password?"
expect(screen.getByLabelText('Password')).toHaveAttribute('type', 'password')
await page.getByLabel('Password').click();
await page.getByLabel('Password').fill(process.env.TEST_PASSWORD!);
await page.getByLabel('Password').fill(password);
locator('input[name="password"]') resolved to 2 elements
waiting for getByLabel('Password')
waiting for getByTestId('checkout-button-primary').filter({ hasText: 'Buy now' })
Error: Invalid password: too short
Error: token expired
Error: Missing required parameter: apiKey
Error: JWT_SECRET is not set
Error: secretOrPrivateKey must have a value
TypeError: Cannot read properties of undefined (reading 'token')
TypeError: Cannot destructure property 'password' of 'req.body' as it is undefined.
ReferenceError: accessToken is not defined
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
SyntaxError: Unexpected token } in JSON at position 12
SyntaxError: Unexpected token: }
Property 'token' is missing in type '{ id: string; }' but required in type '{ token: string; }'.
Type '{ token: string | null; }' is not assignable to type 'Session'.
Argument of type 'string | undefined' is not assignable to parameter of type 'Secret'.
src/auth.ts:12:5 - error TS2322: Type 'string' is not assignable to type 'Token'.
{"max_tokens":4096,"total_tokens":12,"sort_key":"name","keyboard":"de"}
usage: prompt_tokens=120 completion_tokens=44
{"error":"invalid_grant","error_description":"Invalid refresh token"}
{"error":{"code":"auth/invalid-credential","message":"INVALID_LOGIN_CREDENTIALS"}}
{"code":"PGRST116","details":"The result contains 0 rows","hint":null,"message":"JSON object requested"}
{"code":"23505","detail":"Key (email)=(ann@shop.test) already exists."}
{"code":"ERR_MODULE_NOT_FOUND","status":404}
{"password":null,"secret":false,"token":""}
{"token_type":"bearer","expires_in":3600,"scope":"openid email"}
{"tokenCount":12,"passwordStrength":"weak","hasPassword":true}
{"session":"active","state":"open","key":"ArrowDown","auth":"none"}
{"keys":["id","name"],"primaryKey":"id","foreignKey":"user_id"}
{"authors":["Ann"],"authorName":"Ann","authenticated":true}
press("Enter"), keyboard.press('Control+A'), key: "Escape"
event.key === 'Enter' && submit()
Warning: Each child in a list should have a unique "key" prop.
<Route key="checkout" path="/checkout" />
for (const [key, value] of Object.entries(headers)) {
const cacheKey = ${'`'}user:${'${'}id}${'`'};
public key infrastructure, key facts, the key point
Key (email)=(ann@shop.test) already exists.
ERROR: duplicate key value violates unique constraint "users_email_key"
ERROR: insert or update on table "orders" violates foreign key constraint "orders_user_id_fkey" (SQLSTATE 23503)
ERROR: relation "password_resets" does not exist
SELECT id, password_hash, reset_token FROM users WHERE email = $1
ALTER TABLE users ADD COLUMN api_key text NOT NULL DEFAULT '';
CREATE TABLE sessions (token text PRIMARY KEY, user_id uuid REFERENCES users(id));
password text not null, token varchar(255), secret bytea
commit 9fceb02d0ae598e95dc970b74767f19372d61af8 on main
index 83db48f..bf269f4 100644
order 3f2504e0-4f89-41d3-9a0c-0305e82c3301 was not found
ULID 01ARZ3NDEKTSV4RRFFQ69G5FAV, nanoid V1StGXR8_Z5jdHi6B-myT
GET http://localhost:5173/assets/index-BkQ3x7Zp.9f8e7d6c.js?v=1a2b3c4d net::ERR_ABORTED
http://localhost:5173/src/app.ts?t=1700000000&import
GET http://localhost:54321/rest/v1/orders?select=*&key=
GET /rest/v1/orders?select=*&order=created_at.desc&limit=10 → 404 code=PGRST116
http://localhost:3000/login?error=session_expired&code=401
http://localhost:3000/auth/callback?error=access_denied
http://localhost:3000/reset-password
http://localhost:3000/api/auth/session
http://localhost:3000/products?sort=key&page=2&token=
POST http://localhost:3000/api/token 500 (Internal Server Error)
GET http://localhost:3000/api/users/42/api-keys 403
git+ssh://git@host/repo and postgres://app@localhost/shop
postgres://app@localhost:5432/shop?sslmode=disable
postgres://localhost:5432/shop
the user postgres connects to localhost as root, true or false, 5432 or 3000
at Object.<anonymous> (/app/node_modules/.pnpm/react-dom@19.0.0_react@19.0.0/index.js:12:34)
at validateToken (/srv/app/src/auth/token.ts:42:11)
at SecretManager.load (file:///srv/app/dist/secret-manager.js:10:3)
at async login (webpack-internal:///./src/pages/api/login.ts:17:20)
    at Password (http://localhost:5173/src/components/Password.tsx?t=1763712000000:21:14)
/home/ann/my shop/app/src/token/index.ts
cd "/home/ann/my shop/app" && npx playwright test
/run/secrets/db_password is missing
https://auth.shop.test/oauth/token answered 500
https://vault.shop.test:8200 is not reachable
/tmp/ssh-XYZ123/agent.42 was refused
the layout de-latin1-nodeadkeys
listening on port 5173
etag: W/"5d8c72a5edda8d6a-1f4"
x-request-id: 7b1f0e9c-2d3a-4a5b-8c6d-0e1f2a3b4c5d
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
content-security-policy: default-src 'self'; script-src 'self' https://cdn.test
www-authenticate: Bearer realm="shop", error="invalid_token"
access-control-allow-headers: authorization, x-client-info, apikey, content-type
Vary: Cookie, Authorization
strict-transport-security: max-age=31536000; includeSubDomains
"integrity": "sha512-9rVmKqY0b2VkZ1Wl5tXh3cU8pJfGsEoNaTzLiBwQyMdHxCvRgSuPkAj4e6D7nI1O=="
color: #ff00aa; background: rgba(12, 34, 56, 0.7)
class="text-sm font-medium px-4 py-2 rounded-md key-cap"
data-testid="password-input-3" aria-describedby="token-help"
invoice 20261121000123456789012345 for 4111 units
Order number: 493021, 3 items, total 129.90
Your order 493021 was shipped
phone +49 151 23456789, zip 80331, IBAN of the shop
expect(locator).toHaveText(expected) failed: Expected: "Thanks" Received: "Tanks"
Expected: "Secret Santa" Received: "Secret Satan"
Expected string: "Token saved" Received string: "Token not saved"
Error: expect(received).toBe(expected) // Object.is equality
- textbox "Name": Ann
- textbox "Password"
- button "Show password" [ref=e12]
- heading "Reset your password" [level=1]
- link "Forgot password?": /url: /forgot-password
- textbox "Search": secret garden
Basic authentication is required; Bearer of bad news
Bearer token required
Authorization header is missing
authorization: required
The cookie banner did not close; cookies: accepted
cookie: SameSite=Lax is recommended
disk-usage-of-the-whole-risk-management-database task-0123456789012345678901
import { Token, TokenType } from './token';
import secrets from '../secrets/index.js';
export function isSecretName(name: string): boolean {
class PasswordReset extends Model<PasswordReset> {
private readonly apiKey: string,
@Inject(TOKEN) private token: InjectionToken<string>,
constructor(private readonly secret: string = randomBytes(16).toString('hex')) {
const secret = crypto.randomBytes(32).toString('hex');
headers: { Authorization: ${'`'}Bearer ${'${'}token}${'`'} },
headers: { authorization: 'Bearer ' + token, cookie: req.headers.cookie },
headers.set('Authorization', ${'`'}Bearer ${'${'}session.accessToken}${'`'});
req.headers.authorization?.split(' ')[1]
if (req.headers['x-api-key'] !== config.apiKey) return res.status(401).end();
res.cookie('session', token, { httpOnly: true, sameSite: 'lax' });
localStorage.setItem('access_token', data.access_token);
localStorage.getItem('access_token')
document.cookie.split('; ').find((row) => row.startsWith('session='))
env: { API_KEY: ${'${'}{ secrets.API_KEY }} }
run: echo "${'$'}API_KEY" | wc -c
password: ${'$'}DB_PASSWORD
password: ${'${'}DB_PASSWORD:-postgres}
export API_KEY=${'$'}(cat /run/secrets/api_key)
TOKEN=${'$'}{TOKEN:?TOKEN is not set}
API_KEY=<your-api-key>
API_KEY=your_api_key_here
OPENAI_API_KEY=sk-...
password=********
password: [hidden]
token=undefined
token: null, secret: undefined
token=%s password=%s
--password <password>  the password of the user
usage: login --token TOKEN [--user USER]
npm warn config --token is deprecated
def login(user: str, password: str, token: Optional[str] = None):
password = os.environ["DB_PASSWORD"]
String password = request.getParameter("password");
func (s *Server) Login(user, password string) (token string, err error) {
pub struct Config { pub api_key: String, pub token: Option<String> }
public string Password { get; set; }
validates :password, presence: true, length: { minimum: 8 }
secret_key_base: <%= ENV["SECRET_KEY_BASE"] %>
FEATURE_SECRET_SANTA is true and TOKENIZERS_PARALLELISM is false
tokens: 4096, token limit: 8192, tokenizer: cl100k_base
token: 42 of 100
pwd: /home/ann
signature: (a: number, b: string) => void
the signature of the function changed
state: visible, code: 0, exit code=1
process exited with code=137 signal=SIGKILL
status=500 code=ECONNREFUSED
error.code=ERR_INVALID_ARG_TYPE
zip code: 80331-1234
const statusCode = 404, errorCode = 'E1234';
otp: z.string().length(6)
<InputOTP maxLength={6} value={otp} />
pin: { x: 100, y: 200 }
pin: top-left
salt and pepper
sk-eleton loader, sk-ip link
eyJust a word
AKIA is how they begin
`;

/** Nothing of any of these may be masked. */
export const harmlessTexts: readonly string[] = [
  ...secondHarmless,
  ...thirdHarmless,
  ...fourthHarmless,
  ...lines.split('\n').filter((line) => line !== ''),
  `<img src="data:image/png;base64,${Buffer.from('\u0089PNG not really a picture, but long enough '.repeat(20)).toString('base64')}">`,
  `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify({ version: 3, sources: ['src/token.ts'], mappings: 'AAAA,SAASA;CACT' })).toString('base64')}`,
  'diff --git a/src/login.ts b/src/login.ts\n@@ -1,3 +1,3 @@\n-  const token = null;\n+  const token = await login(user, password);\n   return token;',
  'function login(\n  email: string,\n  password: string,\n): Promise<Token> {\n  return api.post("/login", { email, password });\n}',
  '  12 |   await page.getByLabel("Password").fill(user.password);\n> 13 |   await page.getByRole("button").click();\n     |                                  ^',
  'model User {\n  id       Int    @id\n  password String\n  token    String? @unique\n}',
  'openapi:\n  securitySchemes:\n    apiKey:\n      type: apiKey\n      name: X-Api-Key\n      in: header',
  '  password: Password;\n  token: Token;\n  secret: Secret;',
  'Call log:\n  - waiting for getByLabel(\'Password\')\n    - locator resolved to <input type="password" id="pw"/>\n    - fill("")\n',
  'name,password_set\nann,yes',
];
