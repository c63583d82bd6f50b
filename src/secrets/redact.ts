import type { Detect } from './detector.js';
import { maskEncoded } from './encoded.js';
import { holdsMask, isMasked, withMasks, withoutMasked, type MaskOf } from './masks.js';
import { namedSecrets, type NamedSecret } from './named-secrets.js';
import { isSecretHeader, kindOfName } from './secret-name.js';
import { maskTokens } from './token-shapes.js';

/** Secrets that are known by their place: what stands before and behind the mask is kept. */
const places: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  {
    kind: 'private key',
    pattern:
      /(?<before>)-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]{0,16384}?-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|[\w+/=\s\\:,.-]{0,16384})/g,
  },
  // `Fill "…" getByLabel('Password')`, the title of a step.
  {
    kind: 'password',
    pattern:
      /(?<before>\b(?:fill|type|press sequentially)[ (]{1,2}")[^"\n]*(?="[^\n]{0,256}(?:password|passwort|secret|token|passcode))/gi,
  },
  // `getByLabel('Password').fill('…')` and `page.fill('#password', '…')`, in a snippet of the test.
  {
    kind: 'password',
    pattern:
      /(?<before>(?:password|passwort|secret|token|passcode)[^\n]{0,200}?\.(?:fill|type|pressSequentially)\(\s{0,4}["'`])[^"'`\n]*(?=["'`]\s{0,4}(?:\)|,\s{0,4}\{))/gi,
  },
  {
    kind: 'password',
    pattern:
      /(?<before>\.(?:fill|type)\(\s{0,4}(?<quote>["'`])[^\n]{0,80}(?:password|passwort|secret|token|passcode)[^\n]{0,80}?\k<quote>,\s{0,4}["'`])[^"'`\n]*/gi,
  },
  // A call log that names the field above what was typed into it.
  {
    kind: 'password',
    pattern:
      /(?<before>(?:password|passwort|secret|token|passcode)(?:[^\n]{0,1000}\n){1,12}?(?:\d{12,14} )?[ \t-]{0,8}(?:fill|type|pressSequentially)\(")(?:[^"\\\n]|\\.)*/gi,
  },
  {
    kind: 'password',
    pattern: /(?<before><input(?=[^<>]{0,400}type=\\?["']password)[^<>]{0,400}?\bvalue=\\?["'])[^"'\\<>]*/gi,
  },
  { kind: 'credentials', pattern: /(?<before>\bBearer(?:\s{1,4}|%20|\+))[A-Za-z0-9._~+/=-]{6,}/gi },
];

const basic = /(?<before>\bBasic(?:\s{1,4}|%20|\+))(?<encoded>[A-Za-z0-9+/_-]{6,2048}={0,2})/gi;

/** Databases and queues, whose passwords hold what would end that of another URL. */
const connection =
  /(?<before>\b(?:postgres(?:ql)?|mysqlx?|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|smtps?|ftps?):\/\/[^\s:@/"'<>]{0,128}:)[^\s"'<>@]{1,256}(?=@)/gi;

/**
 * Masks the secrets that say by their name, place or shape that they are secrets (EV-9), and what `detect` finds. What
 * comes out is the same in every environment. Redacting twice changes nothing.
 */
export function redact(text: string, detect: Detect | null = null): string {
  return withMasks(text, (opaque, mask) => maskAll(opaque, { detect, mask, depth: 0 }));
}

interface Masking {
  readonly detect: Detect | null;
  readonly mask: MaskOf;
  /** How many encodings stand around the text. */
  readonly depth: number;
}

const deepest = 2;

function maskAll(text: string, { detect, mask, depth }: Masking): string {
  const inside =
    depth < deepest
      ? maskEncoded(text, (decoded) => maskAll(decoded, { detect, mask, depth: depth + 1 }))
      : text;
  const named = namedSecrets.reduce((masked, one) => maskNamed(masked, one, mask), maskPlaces(inside, mask));
  const known = maskTokens(named, mask);
  return detect ? maskFound(known, detect, mask) : known;
}

function maskPlaces(text: string, mask: MaskOf): string {
  const withoutPasswords = text
    .replace(connection, (match: string, before: string) => kept(match, before, mask('password')))
    .replace(/:\/\/([^\s/?#"'`<>]{1,512})@/g, (_, found: string) => withoutPassword(found, mask))
    .replace(basic, (match: string, before: string, encoded: string) =>
      isCredentials(encoded) ? before + mask('credentials') : match,
    );
  return places.reduce(
    (masked, { kind, pattern }) =>
      masked.replace(pattern, (match: string, before: string) => kept(match, before, mask(kind))),
    withoutPasswords,
  );
}

/** Masks the values of headers that carry credentials, and what `redact` finds in the others. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretHeader(name) && value !== '' ? `[masked: ${kindOfName(name)}]` : redact(value),
    ]),
  );
}

function kept(match: string, before: string, mask: string): string {
  return isMasked(match.slice(before.length)) ? match : before + mask;
}

function maskNamed(text: string, { pattern, isSecret, isValue }: NamedSecret, mask: MaskOf): string {
  return text.replace(pattern, (...match: unknown[]) => {
    const { before, name, value } = match.at(-1) as { before: string; name: string; value: string };
    const isOne = isSecret(withoutMasked(name)) && !isHarmless(value) && (isValue?.(value) ?? true);
    return before + (isOne ? mask(kindOfName(name)) : value);
  });
}

/** Longest first where two overlap, and nothing that is masked already. */
function maskFound(text: string, detect: Detect, mask: MaskOf): string {
  const found = [...detect(text)].sort((a, b) => a.start - b.start || b.end - a.end);
  let [masked, at] = ['', 0];
  for (const { start, end, kind } of found) {
    if (start < at || holdsMask(text.slice(start, end))) continue;
    masked += text.slice(at, start) + mask(kind);
    at = end;
  }
  return masked + text.slice(at);
}

/** `https://user:password@host`, `postgres://…`, and `https://token@host`, where a short user name stays. */
function withoutPassword(credentials: string, mask: MaskOf): string {
  const colon = credentials.indexOf(':');
  if (colon < 0) return `://${credentials.length >= 16 ? mask('credentials') : credentials}@`;
  const password = credentials.slice(colon + 1);
  return `://${credentials.slice(0, colon)}:${isMasked(password) ? password : mask('password')}@`;
}

/** "Basic authentication" is prose. */
function isCredentials(encoded: string): boolean {
  const decoded = Buffer.from(encoded, 'base64').toString('latin1');
  return /^[^:]{0,256}:/.test(decoded) && /^[\x20-\x7e\x80-\xff]*$/.test(decoded);
}

/** What gives nothing away. TypeScript prints types in the shape of objects: `{ token: string | null; }`. */
function isHarmless(value: string): boolean {
  if (isMasked(value) || value === 'true' || value === 'false') return true;
  return value
    .split('|')
    .every((part) =>
      /^\s*(?:null|undefined|string|number|boolean|any|unknown|never|object)(?:\[\])?\s*$/.test(part),
    );
}
