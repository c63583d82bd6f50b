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
]);
const runTogether = /(?:password|passwd|secret|token|apikey)$/;

/** Whether a header's value is a secret whatever it says; the name's case does not matter. */
export function isSecretHeader(name: string): boolean {
  return secretHeaders.has(name.toLowerCase()) || isSecretName(name);
}

/**
 * Whether a field, parameter or variable of this name holds a secret: `accessToken`, `DB_PASSWORD`, `api key`, but not
 * `tokens`, `maxTokens` or `sort_key`.
 */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  if (words.some((word) => secretAnywhere.has(word))) return true;
  if (secretAtTheEnd.has(last) || runTogether.test(last)) return true;
  return last === 'key' && makesAKeySecret.has(words.at(-2) ?? '');
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
