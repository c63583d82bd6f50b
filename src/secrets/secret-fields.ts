/**
 * The meaning of a name for its value. The value of a `secret` is secret unless it is a placeholder, code or a program's word such as `required`.
 * The value of a `handle`, such as a session or a signature, is secret only if it looks generated.
 */
type NameMeaning = 'secret' | 'handle';

/** Matches by the last words of a name: `DB_PASSWORD_2` and `accessToken`, but not `passwordStrength`, `TOKEN_URL` and `sort_key`. */
const secretName =
  /(?:^| )(?:\w*(?:password|passwd|passwort|passphrase|passcode|secret|token|apikey|secretkey|privatekey|accesskey)|pass|pwd|\w+ pw|requirepass|credential|cred|csrf|xsrf|jwt|bearer|\w*otp|pin|pin code|cvv|cvc|csc|(?:security|verification|one time|2 ?fa|mfa|factor|sms|backup|recovery) code|private key id|secret key base|(?:github|npm|access|gitlab) pat|(?:api|access|secret|private|signing|encryption|crypto|auth|account|shared|master|service|role|client|licen[cs]e|session|cookie|webhook|deploy|storage|hmac|jwt|ssh|aws|stripe|app|base|publish) key)s?$/;
const handleName =
  /(?:^| )(?:auth|session|sess|\w*sessid|\w*sessionid|session id|sid|sig|signature|\w*verifier|nonce|salt|pepper|seed|sk|code|key|assertion|saml response|saml request|token hash)s?$/;
/** A suffix that does not change what a name means. */
const qualifier = / (?:\d{1,4}|v\d|old|new|current|next|base64|b64|staging|prod|production|dev|test|live)$/;

const cache = new Map<string, NameMeaning | null>();
const MAX_CACHED = 5000;

/** Classifies the name of a field, parameter, header or variable; returns null for a name that indicates no secret. */
export function classifyName(name: string): NameMeaning | null {
  let meaning = cache.get(name);
  if (meaning === undefined) {
    const words = splitName(name);
    meaning = secretName.test(words) ? 'secret' : handleName.test(words) ? 'handle' : null;
    if (cache.size < MAX_CACHED) cache.set(name, meaning);
  }
  return meaning;
}

function splitName(name: string): string {
  let words = name
    .replace(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
  while (qualifier.test(words)) words = words.replace(qualifier, '');
  return words;
}

/** True if this header's value is always secret. Ignores the case of the name. */
export function isSecretHeader(name: string): boolean {
  return (
    /^(?:(?:proxy-)?authorization|(?:set-)?cookie2?|[\w-]*-(?:authorization|signature))$/i.test(name) ||
    classifyName(name) !== null
  );
}

/** A pattern, for use with the flag `i`, of words in the name or label of a secret field. */
export const fieldWords = String.raw`passwor[dt]|passphrase|passcode|secret|token|one.?time|otp|(?:api|access|secret|private|licen[cs]e)[ _-]?key|(?:security|verification|auth\w{0,12}|2fa|mfa|factor|sms|backup|recovery)[ _-]?code|\bc(?:ar|redit.?car)d.?(?:number|code)|cc-number|\b(?:cv[vc]2?|csc|pin)\b`;

const secretWord = new RegExp(fieldWords, 'i');
const describingAttribute =
  /^(?:name|id|type|autocomplete|label|aria-label|placeholder|title|selector|locator|data-[\w-]{1,40})$/;
/** Types of input fields that hold no secret. */
const typeWithoutSecret = /^(?:checkbox|radio|submit|button|reset|image|file|range|color|email)$/i;

/** True for a secret field, judging by its attributes, its label or the locator with which a test found it. */
export function isSecretField(field: Readonly<Record<string, unknown>>): boolean {
  if (field['type'] === 'hidden') return isHiddenSecret(field);
  if (typeof field['type'] === 'string' && typeWithoutSecret.test(field['type'])) return false;
  return Object.entries(field).some(([name, description]) => {
    if (typeof description !== 'string' || !describingAttribute.test(name)) return false;
    const words = description.slice(0, 500);
    return (
      secretWord.test(words) ||
      (words.match(/[A-Za-z][\w-]*/g) ?? []).some((word) => classifyName(word) === 'secret')
    );
  });
}

/** True if a hidden field holds a token, judging by its name, since it has no label. */
function isHiddenSecret({ name, id, value }: Readonly<Record<string, unknown>>): boolean {
  return [name, id].some((text) => {
    if (typeof text !== 'string') return false;
    const meaning = /[cx]srf/i.test(text) ? 'secret' : classifyName(text);
    return meaning === 'secret' || (meaning === 'handle' && typeof value === 'string' && isGenerated(value));
  });
}

/** Names the kind of secret for a mask. */
export function nameSecretKind(name: string): string {
  const words = splitName(name);
  if (/pass|pwd|pw$/.test(words)) return 'password';
  if (/(?:^| )(?:\w*otp|pin|cv[vc]|code)s?(?: |$)/.test(words)) return 'code';
  if (/token|jwt|csrf|xsrf|bearer/.test(words)) return 'token';
  if (/sess|sid$/.test(words)) return 'session';
  if (/cred|auth$/.test(words)) return 'credentials';
  if (/sig/.test(words)) return 'signature';
  return /keys?$/.test(words) ? 'key' : 'secret';
}

const placeholder =
  /^(?:[*•·.x_-]{3,}|<.*|\?.*|\[.*|\(.*|\{.*|\$.*|%[a-z]|#.*|@[A-Za-z]+|(?:your|my|the|some|insert|enter)[-_ ].*|.*(?:example|placeholder|change-?me|redacted|hidden|omitted|here|todo|\.{3}|…)\W?)$/i;
/** Words that programs print in place of a secret, for its type or state. */
const statusWord =
  /^(?:true|false|null|none|nil|undefined|unset|empty|missing|required|optional|invalid|valid|expired|wrong|weak|strong|ok|yes|no|on|off|active|inactive|enabled|disabled|unknown|any|never|object|string|number|boolean|text|varchar|uuid|int|bool|str|return|await|new|const|let|err|error|failed|denied|not|basic|bearer|include|omit|same-origin|inherit|memory|cookie|public|private|anonymous|guest|localhost|default|current|accepted|rejected|character|primary|reset|passed)$/i;
/** A word such as `password`, which code and prose write in place of a secret. Directly after a name (`tight`), one with a hyphen counts as a value. */
const bareSecretWord =
  /^[^\s\d]*(?:passwor[dt]|passwd|passphrase|secret|token|credential|api[-_ ]?key|session|auth|otp|pwd|key)s?$/i;
const versionNumber = /^(?:[~^]|[<>]=?)?v?\d{1,4}(?:\.\d{1,5}){1,3}(?:-[a-z][\w.-]{0,40})?$/i;
const timestamp = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-][\d:]+)?$/;
/** A path or an address, unless a part of it looks generated. */
const pathOrAddress = /^(?:(?:\.{1,2}|~|[A-Za-z]:)?[\\/]|https?:\/\/)[^\s@?#]*$/;
/** A name, or a member of something. */
const codeName = /^[!(]?[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|!\.)[A-Za-z_$][\w$]*)*[!;,?]*$/;

export type ValueContext =
  /** Directly after its name, as machines write data. */
  | 'tight'
  /** In quotes, in data or code. */
  | 'data'
  /** After a colon or a blank, which may also precede prose or code. */
  | 'open';

/** True if the value of a secret's name is a secret, false if it is a placeholder, code, prose or a program's word. */
export function isSecretValue(value: string, context: ValueContext, name = 'token'): boolean {
  const text = value.slice(0, 256).trim();
  if (classifyName(name) === 'handle')
    return isGenerated(text) && (context !== 'open' || countAlternations(text) >= 3);
  if (
    text.length < 4 ||
    [placeholder, statusWord, versionNumber, timestamp].some((pattern) => pattern.test(text))
  )
    return false;
  if (pathOrAddress.test(text) || /^[\d.,:-]+$/.test(text))
    return (
      isGenerated(text) ||
      (context !== 'open' && /^\d{4,32}$/.test(text) && /^(?:password|code)$/.test(nameSecretKind(name)))
    );
  if (bareSecretWord.test(text) && !(context === 'tight' && text.includes('-'))) return false;
  if (/\s/.test(text)) return context !== 'open' && (isPassphrase(text, name) || isShortWithDigits(text));
  if (context === 'open')
    return (
      isGenerated(text) ||
      (/\d/.test(text) && (/^\w{8,}$/.test(text) || (text.length >= 6 && !codeName.test(text))))
    );
  if (/^[A-Za-z]+$/.test(text)) return context === 'tight' || nameSecretKind(name) === 'password';
  return !/^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(text);
}

/** Words in messages about a password, such as those below its field. */
const passwordMessageWord =
  /^(?:passw\w*|is|are|be|has|have|was|must|may|can|can't|cannot|do|does|doesn't|should|needs?|please|enter|choose|show|hide|repeat|confirm|forgot(?:ten)?|reset|changed?|updated?|not?|too|at|the|a|an|in|of|for|or|and|with|your?|than|least|most|required|missing|invalid|incorrect|wrong|weak|strong|short|long|expired|found|set|field|characters?|credentials?|match|try|again)$/i;

/** True for several words chosen as a password, false for a sentence about one. */
function isPassphrase(text: string, name: string): boolean {
  const words = text.split(/\s+/);
  const isWordy = words.length >= 2 && words.every((word) => /^[\p{L}\d'-]+$/u.test(word));
  return (
    isWordy &&
    /^(?:password|secret)$/.test(nameSecretKind(name)) &&
    !words.some((word) => passwordMessageWord.test(word))
  );
}

function isShortWithDigits(text: string): boolean {
  return /\d/.test(text) && text.split(/\s+/).length < 4;
}

/** True if a value has letters and digits, as identifiers, hashes and generated passwords do. */
export function hasLettersAndDigits(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** True if a value looks generated: letters and digits alternate, or upper and lower case alternate often. */
export function isGenerated(value: string): boolean {
  if (value.length < 8 || /\s/.test(value) || timestamp.test(value)) return false;
  const digits = countAlternations(value);
  const cases = value.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0;
  return digits >= 3 || (digits >= 1 && digits + cases >= 6);
}

function countAlternations(value: string): number {
  return value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
}
