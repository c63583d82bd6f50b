const secretHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'apikey',
  'api-key',
]);

const secretAnywhere = new Set([
  'password',
  'passwd',
  'pwd',
  'passphrase',
  'secret',
  'credential',
  'credentials',
]);
const secretAtTheEnd = new Set(['token', 'apikey', 'sig', 'signature', 'authorization', 'jwt']);
const makesAKeySecret = new Set([
  'api',
  'access',
  'private',
  'secret',
  'signing',
  'encryption',
  'auth',
  'role',
  'account',
  'shared',
  'master',
  'service',
  'anon',
  'license',
]);
const runTogether = /(?:password|passwd|passwort|secret|token|apikey|sessid|sessionid|accesskey)$/;

/** The cookies and stores of frameworks that keep a login: `connect.sid`, `JSESSIONID`, `__Host-session`. */
const loginCookie =
  /^(?:connect\.sid|sid|sessid|[a-z]*session_?id|__(?:host|secure)-.+|(?:[\w-]+[._-])?session)$/i;

/** Whether a header's value is a secret whatever it says; the name's case does not matter. */
export function isSecretHeader(name: string): boolean {
  return secretHeaders.has(name.toLowerCase()) || isSecretName(name);
}

/**
 * Whether a field, parameter or variable of this name holds a secret: `accessToken`, `DB_PASSWORD`, `api key`, but not
 * `tokens`, `maxTokens` or `sort_key`.
 */
export function isSecretName(name: string): boolean {
  if (loginCookie.test(name)) return true;
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  if (words.some((word) => secretAnywhere.has(word))) return true;
  if (secretAtTheEnd.has(last) || runTogether.test(last)) return true;
  return last === 'key' && makesAKeySecret.has(words.at(-2) ?? '');
}

/** What a mask says in place of the value of this name: a few words that any reader understands. */
export function kindOfName(name: string): string {
  const lower = name.toLowerCase();
  if (/cookie|httponly|domain|expires|^path$/.test(lower)) return 'cookie';
  if (/pass|pwd/.test(lower)) return 'password';
  if (/authorization|credential|auth$/.test(lower)) return 'credentials';
  if (/sig/.test(lower)) return 'signature';
  if (/token|jwt|csrf/.test(lower)) return 'token';
  if (/sess|sid$/.test(lower)) return 'session';
  return lower.endsWith('key') ? 'key' : 'secret';
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
