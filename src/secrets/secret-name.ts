/**
 * How much a name reveals about its value. A `certain` name's value is secret even if it is a plain word, a `likely` one's unless it is
 * a word common in programs, a `possible` one's only if it looks generated.
 */
export type Strength = 'certain' | 'likely' | 'possible';

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const certain = words('password passwort passwd pwd passphrase passcode secret requirepass masterauth');
const likely = words(
  'token credential cred jwt bearer pat pass pw apikey accesskey secretkey privatekey masterkey authkey',
);
const possible = words(
  'auth authorization session sess sid sessid sig signature csrf xsrf verifier nonce salt pepper seed mnemonic sk ticket',
);
const codes = words('otp totp pin cvv cvc mfa 2fa');
/** Words before "key" that make it a cryptographic or API key rather than a key of a map or list. */
const makesAKeySecret =
  words(`api app access private secret signing encryption crypto auth role account shared master service anon license
  hmac session storage deploy deployment ssh webhook client jwt token cookie aes rsa stripe openai google maps aws azure gcp
  backup recovery admin publish write subscription consumer functions function host`);
/** Words that follow a secret's name and make it the name of something else: `passwordStrength`, `TOKEN_URL`, `secretName`. */
const describes =
  words(`strength count counts length len size max min limit limits type types kind url uri endpoint host file filename path dir
  directory folder field input label labels placeholder hint hints policy policies rule rules reset resets error errors message
  messages expiry expires expired expiration ttl age name names status state enabled disabled required valid invalid visible
  changed updated created at id ids index list manager provider service store storage page form screen view component link
  button schema regex pattern parser tokenizer present stdin prompt set exists missing mode method algorithm format version usage rotation
  validator hook context guard santa sharing scope scopes issuer audience header prefix suffix param parameter query text icon
  selector locator el element ref props options option config settings bucket table column row model entity dto
  strategy flow grant step title heading toggle meter checker toast dialog modal verified verification confirmed primary secondary color colour background border`);
const runTogether =
  /(?:password|passwd|passwort|passphrase|secret|token|apikey|sessid|sessionid|accesskey|secretkey|privatekey|(?:store|key)pass)s?$/;

/** Cookies and storage keys in which frameworks keep a login. */
const loginCookie =
  /^(?:connect\.sid|[a-z]*session_?id|__(?:host|secure)-.+|(?:[\w-]+[._-])session|(?:one.?time|verification|security|recovery|backup|confirmation|auth(?:entication)?|sms|login|2fa|mfa|two.?factor|pin).?codes?|saml(?:response|request|assertion))$/i;
/** Custom headers of a service. */
const ownHeader = /^x-[\w-]{0,40}(?:auth|token|key|secret|credential)s?$/i;
/** Environment variables with this suffix hold API keys more often than map keys. */
const variableOfKey = /^[A-Z][A-Z\d]*_(?:[A-Z\d]+_)*KEY$/;
const secretHeader =
  /^(?:(?:proxy-)?authorization|(?:set-)?cookie2?|(?:x-)?api-?key|[\w-]*-(?:authorization|signature))$/i;

/** Whether the value of this header is always secret. The name's case does not matter. */
export function isSecretHeader(name: string): boolean {
  return secretHeader.test(name) || strengthOfName(name) !== null;
}

/**
 * Returns how likely a field, parameter or variable of this name holds a secret: `accessToken`, `DB_PASSWORD`, `api key`,
 * `GITHUB_PAT_2`; null for `maxTokens`, `sort_key`, `passwordStrength`.
 */
export function strengthOfName(name: string): Strength | null {
  let strength = knownStrengths.get(name);
  if (strength === undefined) {
    strength = strengthByWords(name);
    if (knownStrengths.size < mostKnown) knownStrengths.set(name, strength);
  }
  return strength;
}

/** A cache, since the same names recur in logs. */
const knownStrengths = new Map<string, Strength | null>();
const mostKnown = 5000;

function strengthByWords(name: string): Strength | null {
  if (loginCookie.test(name) || ownHeader.test(name)) return 'likely';
  const all = wordsOf(name);
  const at = all.findLastIndex((word, index) => strengthOfWord(word, all[index - 1]) !== null);
  if (at === -1) return variableOfKey.test(name) ? 'possible' : null;
  if (all.slice(at + 1).some((word) => describes.has(word))) return null;
  return strengthOfWord(all[at] ?? '', all[at - 1]);
}

function strengthOfWord(word: string, before: string | undefined): Strength | null {
  const one = word.replace(/(?<=[a-rt-z])s$/, '');
  if (certain.has(one) || certain.has(word)) return 'certain';
  if (
    one === 'token' &&
    word !== one &&
    before !== undefined &&
    /^(?:max|min|total|prompt|completion|input|output|used|num|count|cached)$/.test(before)
  )
    return null;
  if (one === 'pat') return before === undefined ? null : 'likely';
  if (likely.has(one) || codes.has(word)) return 'likely';
  if (one === 'key') return before !== undefined && makesAKeySecret.has(before) ? 'likely' : null;
  if (possible.has(one) || possible.has(word)) return 'possible';
  return runTogether.test(word) ? 'likely' : null;
}

/** Whether the secret with this name can be a number. */
export function namesANumber(name: string): boolean {
  return wordsOf(name).some(
    (word) => codes.has(word) || certain.has(word) || word === 'code' || word === 'pass',
  );
}

/** Returns what a mask calls the value of this name, in one or two common words. */
export function kindOfName(name: string): string {
  const lower = name.toLowerCase();
  if (/cookie|httponly|domain|expires|^path$/.test(lower)) return 'cookie';
  if (/pass|pwd/.test(lower)) return 'password';
  if (/otp|pin|code|mfa|2fa/.test(lower)) return 'code';
  if (lower.endsWith('secret')) return 'secret';
  if (/authorization|cred|bearer|auth$/.test(lower)) return 'credentials';
  if (/sig/.test(lower)) return 'signature';
  if (/token|jwt|csrf/.test(lower)) return 'token';
  if (/sess|sid$/.test(lower)) return 'session';
  return lower.endsWith('key') ? 'key' : 'secret';
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
