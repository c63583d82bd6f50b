import { commandLines } from './command-lines.js';
import type { Found } from './found.js';
import { pageFields } from './page-fields.js';
import type { Place } from './place.js';
import { isCertain, isGenerated, isMixed, isRandom, isSecretValue } from './secret-value.js';

const random = (text: string) => isRandom(text);
/** For places that may also hold ordinary words. */
const noWord = (text: string) =>
  isSecretValue(text, { name: 'certain', quoted: false, tight: false, numbers: true });
const half = (text: string) => isMixed(text) && isRandom(text);

const places: readonly Place[] = [
  {
    kind: 'private key',
    // Also matches a key without its end, if the text was cut, and one with log timestamps in front of its lines.
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[^{}();]{0,16384}?-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?:\s{0,4}(?:Proc-Type|DEK-Info): [^\n]{1,200}){0,4}(?:\W{0,12}[\w+/=]{16,}){0,400}(?:\W{0,3}[\w+/=]+)?)/g,
  },
  // The end of a key whose beginning was cut off. The lookbehind comes last: in front it would be tried at every position.
  {
    kind: 'private key',
    pattern:
      /-----END [A-Z ]{0,30}PRIVATE KEY(?<=(?<secret>(?:[\w+/=]{1,80}(?:\\{1,7}n|\s){1,4}){1,400})-----END [A-Z ]{0,30}PRIVATE KEY)/g,
  },
  // Part of a word next to one of our own cuts: there is no longer a way to tell what it belonged to.
  {
    kind: 'half of a word',
    pattern:
      /… \(?\d{1,12} (?:bytes|characters) cut(?<=(?<secret>[^\s"'<>&=:%?#,;]{8,512})\n?… \(?\d{1,12} (?:bytes|characters) cut)/g,
    isSecret: half,
  },
  {
    kind: 'half of a word',
    pattern: /… \d{1,12} bytes cut …\n(?<secret>[^\s"'<>&=:%?#,;]{8,512})/g,
    isSecret: half,
  },
  // The same in a name that Playwright shortened, as it does with file names made of titles (`trimLongString`).
  {
    kind: 'half of a word',
    pattern: /-[\da-f]{5}-(?<=(?<secret>[A-Za-z\d]{8,100})-[\da-f]{5}-)/g,
    isSecret: half,
  },
  { kind: 'half of a word', pattern: /-[\da-f]{5}-(?<secret>[A-Za-z\d]{8,100})/g, isSecret: half },
  // PuTTY's own format.
  { kind: 'private key', pattern: /^Private-Lines: \d{1,4}\n(?<secret>(?:[\w+/=]{4,80}(?:\n|$)){1,400})/gm },
  // What a GitHub Actions step asks its runner to mask.
  { kind: 'secret', pattern: /::add-mask::(?<secret>[^\n]{3,4096})/g },
  // Base64 of `-----BEGIN`, as Kubernetes and CI settings hold keys.
  { kind: 'private key', pattern: /LS0tLS1CRUdJTi[\w+/=-]{40,16384}/g },
  // Base64 of `eyJ`, a JWT in base64; from gitleaks' rule jwt-base64.
  { kind: 'jwt', pattern: /(?<![\w+/-])ZXlK[\w+/-]{40,16384}={0,2}/g },
  // The private part of a JSON Web Key (RFC 7517).
  {
    kind: 'private key',
    pattern: /"(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"(?<secret>[\w-]{20,2048})"(?=[^{}]{0,4096}})/g,
    isSecret: random,
  },

  // A prefix followed by a generated value, as many issuers write tokens: covers issuers that are not listed.
  {
    kind: 'token',
    pattern: /(?<![\w-])[a-z]{2,12}(?:_[a-z\d]{1,8}){0,2}_(?=[A-Za-z\d]{32,255}(?![\w-]))[A-Za-z\d]+/g,
    isSecret: isGenerated,
  },

  // Passwords and tokens in URLs. Those of databases may contain characters that would end another URL.
  {
    kind: 'password',
    pattern:
      /\b(?:postgres(?:ql)?|mysqlx?|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|smtps?|ftps?|clickhouse|nats|kafka|ldaps?):\/\/[^\s:@/"'<>]{0,128}:(?<secret>[^\s"'<>@]{1,256})@/gi,
  },
  { kind: 'password', pattern: /:\/\/[^\s/?#"'`<>:@]{0,256}:(?<secret>[^\s/?#"'`<>]{1,512})@/g },
  { kind: 'credentials', pattern: /:\/\/(?<secret>[^\s/?#"'`<>:@]{16,512})@/g },
  {
    kind: 'token',
    pattern:
      /\/(?:reset[-_]?password|password[-_]?reset|reset|magic(?:[-_]?link)?|invite|invitations?|confirm|verify(?:[-_]?email)?|activate|unsubscribe|password)\/(?:(?:edit|new|reset|change|set|confirm|verify|accept|link|email|callback)\/){0,2}(?<secret>[\w.~-]{16,512})/gi,
    isSecret: random,
  },
  { kind: 'session', pattern: /;jsessionid=(?<secret>[^\s?&#;"'<>]{8,256})/gi },

  // Authentication schemes in any text.
  {
    kind: 'credentials',
    pattern: /\bBearer(?:\s{1,4}|%20|\+)(?<secret>[A-Za-z0-9._~+/=-]{6,16384})/gi,
    isSecret: (text) =>
      isSecretValue(text, { name: 'likely', quoted: false, tight: true, numbers: false }) &&
      !/^[a-z_]{1,32}=$/i.test(text),
  },
  {
    kind: 'credentials',
    pattern: /\bBasic(?:\s{1,4}|%20|\+)(?<secret>[A-Za-z0-9+/_-]{6,2048}={0,2})/gi,
    isSecret: isBasic,
  },

  ...pageFields,

  // Cookies: in a storage state or `addCookies`, in Netscape's file format, in curl's arguments.
  {
    kind: 'cookie',
    pattern:
      /["']?name["']?\s{0,4}:\s{0,4}["'][^"'\n]{1,128}["']\s{0,4},\s{0,40}["']?value["']?\s{0,4}:\s{0,4}["'](?<secret>[^"'\n]+)["']\s{0,4},\s{0,40}["']?(?:domain|path|url|expires|httpOnly)["']?\s{0,4}:/g,
  },
  {
    kind: 'cookie',
    pattern:
      /^[^\t\n]{1,128}\t(?:TRUE|FALSE)\t[^\t\n]{1,128}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,128}\t(?<secret>[^\t\n]+)/gm,
  },
  {
    kind: 'cookie',
    pattern: /\bcurl\b[^\n]{0,400}?\s(?:-b|--cookie)[ =]?["']?[\w.-]{1,64}=(?<secret>[^\s"';]{4,4096})/g,
  },
  // HAR headers whose value comes before their name.
  {
    kind: 'credentials',
    pattern:
      /"value"\s{0,4}:\s{0,4}"(?<secret>[^"\\]{4,4096})"\s{0,4},\s{0,40}"name"\s{0,4}:\s{0,4}"(?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key|[\w-]{0,40}(?:token|secret|password))"/gi,
  },

  ...commandLines,
  // Mail protocols (RFC 9051, RFC 4954).
  { kind: 'password', pattern: /\bLOGIN \S{1,128} (?<secret>\S{3,128})$/gm, isSecret: random },
  { kind: 'credentials', pattern: /\bAUTH (?:PLAIN|LOGIN|XOAUTH2) (?<secret>[\w+/]{12,4096}={0,2})/g },
  // An entry of `.netrc`, and the arguments of PHP's PDO.
  {
    kind: 'password',
    pattern: /\blogin\s{1,40}\S{1,128}\s{1,40}password\s{1,40}(?<secret>\S{3,256})/g,
    isSecret: noWord,
  },
  {
    kind: 'password',
    pattern:
      /["'](?:mysql|pgsql|sqlsrv|dblib|oci|odbc|firebird):[^"'\n]{0,256}["'],\s{0,8}["'][^"'\n]{0,128}["'],\s{0,8}["'](?<secret>[^"'\n]{3,256})["']/g,
  },
  // A line of `.pgpass`.
  {
    kind: 'password',
    pattern: /^[\w.*-]{1,128}:(?:\d{1,5}|\*):[\w*-]{1,64}:[\w*-]{1,64}:(?<secret>\S{4,256})$/gm,
    isSecret: isCertain,
  },
  // Comma-separated tables in which the header of the last column indicates a secret.
  {
    kind: 'password',
    pattern:
      /^(?:[\w ]{1,40},){1,20}(?:password|secret|token|api_?key)\n(?:[^,\n]{0,200},){1,20}(?<secret>[^,\n]{4,512})$/gim,
    isSecret: random,
  },

  // One-time codes in emails, text messages and logs.
  {
    kind: 'code',
    pattern:
      /\b(?:one[- ]time|verification|security|confirmation|authentication|login|sign[- ]in|2fa|mfa|otp|passcode)\b(?:\W{0,3}\b(?:code|password|passcode|pin|token))?(?:\W{0,3}\b(?:is|for|to|was|here|your|sent|now|of|this)\b){0,3}\W{0,4}(?<secret>\d{4,8}|\d{3}[ -]\d{3})\b/gi,
  },
  {
    kind: 'code',
    pattern:
      /\b(?<secret>\d{4,8}|\d{3}[ -]\d{3}) (?:is|as) (?:your|the)[^\n.]{0,40}?\b(?:code|password|passcode|otp|pin)\b/gi,
  },
];

const patterns = places.map(({ pattern, ...place }) => ({
  ...place,
  pattern: new RegExp(pattern.source, `${pattern.flags}d`),
}));

/** Finds secrets by their surroundings. */
export function findPlaces(text: string): Found[] {
  return patterns.flatMap(({ kind, pattern, isSecret = isAny }) => {
    const found: Found[] = [];
    // `matchAll` clones the expression each time, which costs more than searching a line.
    if (text.search(pattern) === -1) return found;
    for (const { 0: whole, index, groups, indices } of text.matchAll(pattern)) {
      const [start, end] = indices?.groups?.['secret'] ?? [index, index + whole.length];
      if (isSecret(groups?.['secret'] ?? whole)) found.push({ start, end, kind });
    }
    return found;
  });
}

function isAny(text: string): boolean {
  return !/^(?:\$\{?[A-Za-z_][^}]*\}?|<[^<>]*>|\*+|%s|\{\{.*\}\})$/.test(text);
}

/** Tells credentials from prose such as "Basic authentication". */
function isBasic(encoded: string): boolean {
  const decoded = Buffer.from(encoded, 'base64').toString('latin1');
  return /^[^:]{0,256}:/.test(decoded) && /^[\x20-\x7e\x80-\xff]*$/.test(decoded);
}
