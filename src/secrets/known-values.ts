import { decoded } from '../decoded.js';
import { strengthOfName } from './secret-name.js';
import { isMixed } from './secret-value.js';

/** A secret of this environment: its value, and the name of the variable that holds it. */
export interface KnownValue {
  readonly name: string;
  readonly value: string;
}

/** Variables and their values. */
export type Variables = Readonly<Record<string, string | undefined>>;

const minLength = 6;

/** Values that are common to thousands of projects and appear in many texts. */
const ordinary =
  /^(?:https?:\/\/localhost\S*|(?:true|false|null|undefined|none|localhost|postgres|postgresql|mysql|mariadb|mongo|redis|supabase|admin|root|user|guest|test|testing|secret|password|passw0rd|changeme|default|development|production|staging|example|anonymous|disabled|enabled|required|optional|memory|cookie|bearer|basic|session|token)[\d!]{0,3}|[\d.,:_+-]+)$/i;

/** Paths and addresses, which give nobody access. */
const place =
  /^(?:(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w .@-]+){2,}[\\/]?|https?:\/\/[^\s@?#]+|[\w-]+(?:\.[\w-]+)*:\d{2,5})$/;

function isTelling({ value }: KnownValue): boolean {
  return value.length >= minLength && !ordinary.test(value) && !place.test(value);
}

/** Returns the values of variables whose names indicate a secret, and passwords in URLs held by any variable. */
export function secretsAmong(variables: Variables): KnownValue[] {
  return named(Object.entries(variables).map(([name, value = '']) => [name, value]));
}

/** Does the same for a `.env` file, and also returns random-looking values, whatever their names. */
export function secretsOfEnvFile(
  variables: readonly (readonly [name: string, value: string])[],
): KnownValue[] {
  const random = variables.flatMap(([name, value]) => (looksRandom(value) ? [{ name, value }] : []));
  return [...named(variables), ...random];
}

function named(variables: readonly (readonly [name: string, value: string])[]): KnownValue[] {
  const secrets = variables.flatMap(([name, value]) => (saysSecret(name, value) ? [{ name, value }] : []));
  const passwords = variables.flatMap(([name, value]) => passwordIn(name, value));
  return [...secrets, ...passwords].filter(isTelling);
}

function saysSecret(name: string, value: string): boolean {
  if (/^(?:OLD)?PWD$/.test(name)) return false;
  const strength = strengthOfName(name);
  if (strength === 'certain' || strength === 'likely') return true;
  return (strength === 'possible' || /key$/i.test(name)) && (isMixed(value) || value.includes('-----BEGIN '));
}

function passwordIn(name: string, value: string): KnownValue[] {
  // Up to the last @ before the host: one that is not encoded is part of the password (WHATWG URL).
  const found = /^[a-z][a-z\d+.-]{1,20}:\/\/[^\s:@/]{0,128}:([^\s@]{1,256}(?:@[^\s@/?#]{1,256}){0,8})@/i.exec(
    value,
  )?.[1];
  if (found === undefined) return [];
  return [...new Set([found, decoded(found)])].map((one) => ({ name, value: one }));
}

/** Matches mixed-case letters with digits as a generator produces them, or many hex digits; not words, addresses or ids. */
function looksRandom(value: string): boolean {
  return /^[\da-f]{32,512}$/i.test(value) || (/^[\w+/=.~-]{20,512}$/.test(value) && isMixed(value));
}
