/** What an agent has to read, of the third set: a blank line between two, `§` for `$` and `´` for a backtick. */
export const thirdHarmless: readonly string[] = String.raw`
const password = await bcrypt.hash(form.password, saltRounds);

const { accessToken, refreshToken } = await signIn(credentials);

export const loginSchema = z.object({ email: z.email(), password: z.string().min(12, 'password.tooShort') });

interface Session { userId: string; accessToken: string | null; secretQuestion?: string }

await page.locator('input[name="password"]').fill(process.env.TEST_PASSWORD ?? '');

await page.getByLabel('Password').fill(user.password);

await expect(page.getByLabel('Password')).toHaveAttribute('type', 'password');

await page.getByRole('textbox', { name: 'Repeat password' }).press('Enter');

<input id="user-password" type="password" name="password" autocomplete="current-password" required>

<label for="api-key-field" class="form-label token-input">API key</label>

<div data-testid="password-strength-meter" class="pw-meter pw-meter--weak" aria-label="Password strength"></div>

- textbox "Password" [active] [ref=e14]

- textbox "Password": [ref=e15]

- link "Forgot your password?" [ref=e22] [cursor=pointer]:
    - /url: /users/password/new

Error: locator.fill: Timeout 5000ms exceeded.
Call log:
  - waiting for locator('#password-input')

commit 4f2d9c1b7e6a5038d1c2b3a49586776655443322

index 83db48f..bf269f4 100644

"integrity": "sha512-q0sZyQ0xPBOJaWQ7wCmVTqS2wXLiOeTsQDzIh5RYRkHCzJ0Qv6y3oYy1m2PL6v8nR1xYbC0f3kD2sA9uE7tHgw=="

resolved "https://registry.npmjs.org/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz#65ff91f4abef1784697d40952bb1998c504caaf3"

"jsonwebtoken": "^9.0.2",

etag: W/"5e1a-18f3c2b7d40"

GET http://127.0.0.1:3000/assets/index-B4xQ9zLk.js net::ERR_ABORTED 404 (Not Found)

GET http://127.0.0.1:3000/error?code=ERR_SESSION_EXPIRED&state=closed

GET /api/orders/7c9e6679-7425-40de-944b-e07fc1f90ae7 404 in 12ms

{"id":"018f6b2e-6c1d-7a3e-9d0b-1f2e3d4c5b6a","type":"order","status":"pending"}

{"error":{"code":"auth/wrong-password","message":"The password is invalid or the user does not have a password."}}

{"error":"invalid_grant","error_description":"Token has been expired or revoked."}

{"code":"P2002","meta":{"target":["email"]},"clientVersion":"6.19.0"}

{"fields":[{"name":"password","type":"password","label":"Password","required":true,"minLength":12}]}

{"auth.password.label":"Password","auth.password.hint":"At least 12 characters, one of them a digit","auth.token.expired":"Your token has expired"}

password_reset: "Reset your password"

  password:
    placeholder: Enter a new password
    mismatch: Passwords do not match

"placeholder": "Your password", "aria-describedby": "password-hint"

The password must be at least 8 characters long and contain a number.

Please enter the verification code that we sent to your phone.

✘  3 [chromium] › tests/login.spec.ts:14:5 › login › shows an error for a wrong password (2.1s)

    at PasswordField.validate (http://127.0.0.1:3000/src/components/PasswordField.tsx?t=1795000000000:42:13)

    at TokenService.refreshToken (/app/src/auth/token-service.ts:88:21)

TypeError: Cannot read properties of undefined (reading 'accessToken')

ReferenceError: apiKey is not defined

error TS2345: Argument of type 'string | undefined' is not assignable to parameter of type 'Token'.

JsonWebTokenError: jwt malformed

SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON

SyntaxError: Unexpected token: identifier (12:8)

column "password_digest" of relation "users" does not exist

password character varying(255) NOT NULL,

ALTER TABLE sessions ADD COLUMN token_hash bytea NOT NULL;

SELECT id, email, password FROM users WHERE email = $1 AND reset_token = $2

add_column :users, :reset_password_token, :string

has_secure_password

@Value("§{app.jwt.secret}") private String jwtSecret;

password: §{{ secrets.TEST_PASSWORD }}

    env:
      API_TOKEN: §{{ secrets.API_TOKEN }}

token: { type: String, required: true, index: true, expires: '2h' },

password=os.environ["DB_PASSWORD"],

api_key: str | None = Field(default=None, alias="API_KEY")

func Login(ctx context.Context, user, password string) (token string, err error) {

let token = headers.get("authorization").ok_or(AuthError::MissingToken)?;

headers: { Authorization: ´Bearer §{token}´ },

'Authorization': 'Bearer ' + session.accessToken,

WWW-Authenticate: Bearer realm="shop", error="invalid_token"

set-cookie: theme=dark; Path=/; SameSite=Lax

Access-Control-Allow-Headers: authorization, x-api-key, x-csrf-token

Content-Security-Policy: script-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='

.token.keyword { color: var(--token-keyword-color); } .password-toggle:focus { outline: 2px }

<div class="css-1dbjc4n r-1awozwy r-18u37iz sc-bdVaJa kZqXvN">

<svg><path d="M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2z"/></svg>

Expected substring: "Wrong password"
Received string:    "Please log in"

test('rejects an expired token', async ({ request }) => {

test.use({ storageState: 'playwright/.auth/user.json' });

{"exp":1795003600,"iat":1795000000,"token_type":"Bearer","expires_in":3600}

{"passwordPolicy":{"minLength":12,"maxLength":128,"requireDigits":true},"sessionTimeout":1800}

 + Password confirmation doesn't match Password

useEffect(() => { if (!token) router.push('/login?reason=session-expired'); }, [token, router]);

const passwordInput = page.locator('[data-cy="login-password"]');

Cookie “theme” has been rejected because it is already expired.

[vite] hmr update /src/features/auth/usePassword.ts, /src/tokens.css

--password-field-height: 2.5rem; --token-radius: 4px;

SECRET_KEY must not be empty. Set it in .env.

Missing environment variable: STRIPE_SECRET_KEY

npm error code E401 Incorrect or missing password.

auth: required, secret: optional, key: primary
`
  .replaceAll('§', '$')
  .replaceAll('´', '`')
  .trim()
  .split('\n\n');
