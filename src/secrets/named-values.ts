import type { Found } from './found.js';
import { generatedNear } from './generated-near.js';
import { headerValues, isHeader } from './header-values.js';
import { placeOf, type Named } from './notations.js';
import { kindOfName, namesANumber, strengthOfName } from './secret-name.js';
import { isChosen, isMixed, isRandom, isSecretValue, type Standing } from './secret-value.js';
import { stretchesAt } from './stretches.js';

/** Where a name may begin that says secret; what is meant by the whole of it is asked of `strengthOfName`. */
const hint =
  /pass|pwd|secret|token|key|cred|auth|bearer|jwt|otp|pin|cv[vc]|mfa|2fa|code|sess|sid|sig|csrf|xsrf|cookie|nonce|salt|pepper|seed|mnemonic|sk\b|ticket|saml|pat\b|pw/gi;
const longestName = 64;

/** How far lists are known, and how far was looked near names. */
interface Seen {
  end: number;
  near: number;
}

/** Finds the values of what says by its name that it is a secret, in any notation. */
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
    // Of a long random text a few letters may look like a name.
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

/** Names that mean a secret in a query, a form and in JSON, and nothing elsewhere. */
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
    const standing: Standing = {
      name: strength,
      quoted,
      tight: place.tight ?? false,
      numbers: namesANumber(name),
    };
    const isChosenHere = isChosen(value) || (place.alone === true && isMixed(value));
    const isOdd = isRandom(value) || (!listed && strength === 'certain' && isChosenHere);
    if ((place.random || listed) && !isOdd) return [];
    if (isLooseName(name) && !quoted) return [];
    return isSecretValue(value, standing) || isShortCode(value, standing) ? [{ start, end, kind }] : [];
  });
}

/** A one-time code has six digits; a status has three, an error of a database five. */
function isShortCode(value: string, { quoted, tight, numbers }: Standing): boolean {
  return numbers && (quoted || tight) && /^\d{6}$/.test(value);
}
