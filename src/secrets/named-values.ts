import type { Found } from './found.js';
import { assigned, besideName, type Named, paired, placeOf } from './notations.js';
import { kindOfName, namesANumber, strengthOfName } from './secret-name.js';
import {
  isChosen,
  isGenerated,
  isMixed,
  isRandom,
  isSecretValue,
  type ValueContext,
} from './secret-value.js';
import { longestWord, quotedAt, type Stretch, stretchesAt, stringsInList } from './stretches.js';

/** Where a name that indicates a secret may be. `strengthOfName` judges the whole name. */
const hint =
  /pass|pwd|secret|token|key|cred|auth|bearer|jwt|otp|pin|cv[vc]|mfa|2fa|code|sess|sid|sig|csrf|xsrf|cookie|nonce|salt|pepper|seed|mnemonic|sk\b|ticket|saml|pat\b|pw/gi;
const longestName = 64;

/** How far lists have been read, and how far the surroundings of names have been searched. */
interface Seen {
  end: number;
  near: number;
}

/** Finds the values of names that indicate a secret, in any notation. */
export function findNamedValues(text: string): Found[] {
  const found: Found[] = [];
  const seen: Seen = { end: 0, near: 0 };
  hint.lastIndex = 0;
  for (let match = hint.exec(text); match !== null; match = hint.exec(text)) {
    const [start, end] = nameAround(text, match.index, hint.lastIndex);
    hint.lastIndex = Math.max(end, hint.lastIndex);
    const [before = ''] =
      /(?:api|access|secret|private|licen[cs]e|encryption) $/i.exec(
        text.slice(Math.max(0, start - 12), start),
      ) ?? [];
    const name = before + text.slice(start, end);
    // Part of a long random text may look like a name.
    if (name.length >= 16 && isRandom(name)) continue;
    const header = isHeader(name);
    const known = strengthOfName(name);
    const strength = known ?? (header || isLooseName(name) ? 'possible' : null);
    if (strength === null) continue;
    if (known === 'certain' || known === 'likely')
      found.push(...generatedNear(text, { start, end, name }, seen));
    const named = { text, name, start, end, strength };
    const values = header ? headerValues(named) : valuesOf(named, seen);
    found.push(...values);
    hint.lastIndex = Math.max(hint.lastIndex, values.at(-1)?.end ?? 0);
  }
  return found;
}

/** Names that mean a secret in a query, a form or JSON, and nothing elsewhere. */
function isLooseName(name: string): boolean {
  return /^(?:key|code|sign|token_hash|otp|pin)$/i.test(name);
}

function nameAround(text: string, from: number, to: number): readonly [start: number, end: number] {
  let [start, end] = [from, to];
  while (start > 0 && from - start < longestName && /[\w$-]/.test(text[start - 1] ?? '')) start -= 1;
  while (end < text.length && end - to < longestName && /[\w$-]/.test(text[end] ?? '')) end += 1;
  while (start < from && /[-$]/.test(text[start] ?? '')) start += 1;
  while (end > to && text[end - 1] === '-') end -= 1;
  return [start, end];
}

function valuesOf(named: Named, seen: Seen): Found[] {
  const place = placeOf(named);
  if (place === null) return [];
  const { text, name, strength } = named;
  const kind = kindOfName(name);
  return stretchesAt(text, place, seen).flatMap(({ start, end, quoted, listed }) => {
    const value = text.slice(start, end);
    const context: ValueContext = {
      name: strength,
      quoted,
      tight: place.tight ?? false,
      numbers: namesANumber(name),
    };
    const isChosenHere = isChosen(value) || (place.alone === true && isMixed(value));
    const isOdd = isRandom(value) || (!listed && strength === 'certain' && isChosenHere);
    if ((place.random || listed) && !isOdd) return [];
    if (isLooseName(name) && !quoted) return [];
    return isSecretValue(value, context) || isShortCode(value, context) ? [{ start, end, kind }] : [];
  });
}

/** A one-time code has six digits. HTTP statuses have three and database error codes five. */
function isShortCode(value: string, { quoted, tight, numbers }: ValueContext): boolean {
  return numbers && (quoted || tight) && /^\d{6}$/.test(value);
}

/** How many characters around a name are searched for generated values. */
const nearby = 200;
/** How many characters are searched again, for a value that ends further on. */
const overlap = 64;

/**
 * Finds generated values on the line of a name that indicates a secret, or alone on the next line (or in pydantic's
 * `input_value=`), in any notation. `seen` holds how far the text has been searched.
 */
function generatedNear(
  text: string,
  { start, end, name }: Omit<Named, 'strength' | 'text'>,
  seen: { near: number },
): Found[] {
  const furthest = Math.max(0, start - nearby);
  const lineStart = furthest + text.slice(furthest, start).lastIndexOf('\n') + 1;
  const from = Math.max(seen.near, lineStart);
  const [line = '', next = ''] = text.slice(from, end + nearby).split('\n', 2);
  const near = /^\s*\S+\s*$|input_value=/.test(next) ? `${line}\n${next}` : line;
  seen.near = Math.max(seen.near, from + near.length - overlap);
  return (
    [...near.matchAll(/(?<![\w/.+~%-])[\w+~-]{16,512}={0,2}(?![\w/.+~-])/g)]
      // Hashes are not secret, and neither is the word that contains the name itself.
      .filter(
        ({ 0: word, index }) =>
          isGenerated(word) &&
          !/^sha\d/.test(word) &&
          !(from + index <= start && start < from + index + word.length),
      )
      .map(({ 0: word, index }) => ({
        start: from + index,
        end: from + index + word.length,
        kind: kindOfName(name),
      }))
  );
}

const asCredentials: ValueContext = { name: 'likely', quoted: false, tight: true, numbers: false };

type Range = Pick<Stretch, 'start' | 'end'>;

/** Whether a header of this name has a structured value. */
function isHeader(name: string): boolean {
  return /^(?:http_)?(?:(?:proxy[-_])?authorization|(?:set-)?cookie2?|[\w-]+-signature)$/i.test(name);
}

/** Finds secrets in the value of `Authorization`, a cookie or a signature header, which is a list, a string or the rest of the line. */
function headerValues(named: Named): Found[] {
  const { text, name, end } = named;
  const inside = /cookie/i.test(name) ? cookiesIn : credentialsIn;
  assigned.lastIndex = end;
  if (!assigned.test(text)) {
    paired.lastIndex = end;
    besideName.lastIndex = end;
    if (besideName.test(text)) return inside(text, quotedAt(text, besideName.lastIndex));
    return paired.test(text) ? inside(text, quotedAt(text, paired.lastIndex)) : [];
  }
  const at = assigned.lastIndex;
  const first = text[at] ?? '';
  if (/["'`]/.test(first)) return inside(text, quotedAt(text, at));
  if (/[[(]/.test(first)) return stringsInList(text, at).flatMap((one) => inside(text, one));
  const quote = text.slice(Math.max(0, named.start - 1), named.start);
  const near = text.slice(at, at + longestWord);
  // An escaped line break ends the value too, and so does the closing quote of a string around the whole header.
  const ends = [near.search(/\n|\\+[nr"']/), /["'`]/.test(quote) ? near.indexOf(quote) : -1, near.length];
  return inside(text, { start: at, end: at + Math.min(...ends.filter((one) => one >= 0)) });
}

/** Finds the secret in the value of an `Authorization` header: what follows its scheme (RFC 9110, 11.4). */
function credentialsIn(text: string, { start, end }: Range): Found[] {
  const value = text.slice(start, end).trimEnd();
  const [scheme = ''] = /^\s*(?:[A-Za-z][\w-]{1,30}[ \t]+)?/.exec(value) ?? [];
  const credentials = value.slice(scheme.length);
  const [first = ''] = credentials.split(/[\s,]/);
  const isSecret =
    isSecretValue(first, asCredentials) ||
    (/[="]/.test(credentials) && isMixed(credentials) && /^[\w"=,. /:+;~-]{16,}$/.test(credentials));
  return isSecret ? [{ start: start + scheme.length, end: start + value.length, kind: 'credentials' }] : [];
}

const attribute = /^(?:path|domain|expires|max-age|samesite|secure|httponly|priority|partitioned)$/i;

const pair = /\s{0,4}(?<name>[\w!#$%&'*+.^|~-]{1,128})(?:=(?<value>[^;"'`\n]{0,4096}))?(?:;|$|(?=["'`\n]))/y;

/** Finds the secrets in the value of a cookie header: every value that is not an attribute (RFC 6265, 4). */
function cookiesIn(text: string, { start, end }: Range): Found[] {
  const cookies = text.slice(start, end);
  const found: Found[] = [];
  pair.lastIndex = 0;
  for (let match = pair.exec(cookies); match !== null && match[0] !== ''; match = pair.exec(cookies)) {
    const { name = '', value: all = '' } = match.groups ?? {};
    const [value = ''] = all.split(/[\s,]/);
    if (attribute.test(name) || !isSecretValue(value, asCredentials)) continue;
    const from = start + match.index + match[0].indexOf('=') + 1;
    found.push({ start: from, end: from + value.length, kind: 'cookie' });
  }
  return found;
}
