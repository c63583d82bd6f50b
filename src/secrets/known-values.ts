import { isSecretName } from './secret-name.js';

/** A secret of this environment: what it says, and the name that it has there. */
export interface KnownValue {
  readonly name: string;
  readonly value: string;
}

/** Variables and their values. */
export type Variables = Readonly<Record<string, string | undefined>>;

const minLength = 6;
const minLetters = 12;
/** Long enough to be looked for within words; shorter ones have to stand alone. */
const longEnough = 12;

/** Values that thousands of projects share, and texts are full of. */
const ordinary =
  /^(?:https?:\/\/localhost\S*|(?:true|false|null|undefined|none|localhost|postgres|postgresql|mysql|mariadb|mongo|redis|supabase|admin|root|user|guest|test|testing|secret|password|passw0rd|changeme|default|development|production|staging|example|anonymous|disabled|enabled)[\d!]{0,3}|[\d.,:_+-]+)$/i;

/** Where something lies, and nothing that lets anybody in: `PASSWORD_STORE_DIR`, `SECRETS_URL`. */
const place = /^(?:(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w .@-]+){2,}[\\/]?|https?:\/\/[^\s@?#]+)$/;

/** Whether a text would lose nothing but the secret if this value were masked in it. */
function isTelling(value: string): boolean {
  if (value.length < minLength || ordinary.test(value) || place.test(value)) return false;
  return value.length >= minLetters || !/^[A-Za-z]+$/.test(value);
}

/** The values of variables with secret-looking names, and the passwords in URLs that others hold. */
export function secretsAmong(variables: Variables): KnownValue[] {
  return Object.entries(variables).flatMap(([name, value = '']) => {
    if (isSecretName(name)) return [{ name, value }, ...passwordIn(name, value)];
    return passwordIn(name, value);
  });
}

/** The same of a `.env` file, and what looks random in it whatever its name is. */
export function secretsOfEnvFile(variables: Variables): KnownValue[] {
  const random = Object.entries(variables).flatMap(([name, value = '']) =>
    looksRandom(value) ? [{ name, value }] : [],
  );
  return [...secretsAmong(variables), ...random];
}

function passwordIn(name: string, value: string): KnownValue[] {
  const found = /^[a-z][a-z\d+.-]{1,20}:\/\/[^\s:@/]{0,128}:([^\s@]{1,256})@/i.exec(value)?.[1];
  if (found === undefined) return [];
  return [...new Set([found, decoded(found)])].map((one) => ({ name, value: one }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** No words, no address, no id: letters of both cases and digits as only a generator mixes them, or many hex digits. */
function looksRandom(value: string): boolean {
  if (/^[\da-f]{32,512}$/i.test(value)) return true;
  return /^[\w+/=-]{20,512}$/.test(value) && /\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value);
}

/** One spelling of a known value; `alone` where it must not be a part of a longer word. */
interface Spelling {
  readonly name: string;
  readonly text: string;
  readonly alone: boolean;
}

/** Masks known values in every spelling in which a text may hold them; null where nothing is known. */
export function knownValueMask(
  known: readonly KnownValue[],
): ((text: string, mask: (name: string) => string) => string) | null {
  const spellings = new Map<string, Spelling>();
  for (const one of known.filter(({ value }) => isTelling(value))) {
    for (const text of spellingsOf(one.value)) {
      if (!spellings.has(text))
        spellings.set(text, { name: one.name, text, alone: text.length < longEnough });
    }
  }
  if (spellings.size === 0) return null;
  const longestFirst = [...spellings.values()].sort((a, b) => b.text.length - a.text.length);
  const pattern = new RegExp(longestFirst.map(sourceOf).join('|'), 'g');
  return (text, mask) => text.replace(pattern, (found) => mask(spellings.get(found)?.name ?? 'a secret'));
}

function sourceOf({ text, alone }: Spelling): string {
  const literal = text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
  return alone ? `(?<![A-Za-z0-9])${literal}(?![A-Za-z0-9])` : literal;
}

/** As it is, in a URL, in a form, in JSON (also within JSON), in HTML, in base64 at any place, and line by line. */
function spellingsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  const html = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const lines = value.split(/\r?\n|\\n/).filter((line) => line.length >= 24 && !line.startsWith('-----'));
  const written = [
    value,
    json,
    JSON.stringify(json).slice(1, -1),
    url,
    url.replaceAll('%20', '+'),
    url.toLowerCase(),
    html,
    ...lines,
    ...inBase64(value),
  ];
  return [...new Set(written)];
}

/** What is left of a value in base64 wherever it begins in what was encoded, as in `user:password`. */
function inBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  if (bytes.length < 8) return [];
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const torn = (offset + bytes.length) % 3 === 0 ? 0 : 1;
    const core = encoded.slice([0, 2, 3][offset], encoded.length - torn);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
