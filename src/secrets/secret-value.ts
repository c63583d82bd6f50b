import { isUnspoken } from './letter-pairs.js';
import { isMasked } from './masks.js';
import type { Strength } from './secret-name.js';

/** The context of a value in its text. */
export interface ValueContext {
  readonly name: Strength;
  /** In quotes or in an element, so a value rather than code. */
  readonly quoted: boolean;
  /** Directly after `=`, or in a query, a form or a list of variables, so data rather than code. */
  readonly tight: boolean;
  /** Whether the secret may consist of digits alone. */
  readonly numbers: boolean;
}

const placeholder =
  /^(?:[*•·.x_-]{3,}|#[\da-f]{3,8}|<[^<>]*>?|\[[^\]]*\]?|\(.*|\{.*|\$.*|%[a-z]|#\{.*|@[A-Za-z]+|&[a-z]+;?|(?:your|my|the|some|insert|enter|put)[-_ ].*|.*(?:example|placeholder|change-?me|redacted|hidden|omitted|here|todo)\W?|[A-Z]{1,4}[-_]\.{2,}|.{0,12}(?:\.{3}|…))$/i;
/** Words that programs print instead of a secret: that there is none, or its state. */
const state =
  /^(?:true|false|null|none|nil|undefined|unset|empty|missing|required|optional|invalid|valid|expired|wrong|weak|strong|short|medium|ok|yes|no|on|off|active|inactive|enabled|disabled|open|closed|pending|unknown|any|never|object|string|number|boolean|bigint|symbol|void|buffer|bytes|text|varchar|uuid|int|integer|bool|char|str|date|function|async|await|new|const|let|return|typeof|self|this|super|err|error|failed|denied|changed|saved|set|not|is|and|or|for|of|the|bearer|basic|include|omit|same-origin|memory|redis|lax|strict|cookie|cookies|public|private|anonymous|guest|localhost|default|current|new|old|dark|light|accepted|rejected|all)$/i;
const speaksOfSecrets =
  /pass(?:word|wort|phrase|code)?s?(?![a-z])|password|secret|token|credential|api[-_ ]?key|session(?![a-z])|auth|otp|pwd|key$/i;
const typeUnion =
  /^\s*(?:(?:null|undefined|string|number|boolean|any|unknown|never|object)(?:\[\])?\s*(?:\||$)\s*)+$/;
const memberOrCall = /^[!(]?[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|!\.)[A-Za-z_$][\w$]*)*(?:[([<`].*|!|\?\?.*)$/;
const members = /^[!(]?[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|!\.)[A-Za-z_$][\w$]*)+$/;
/** A version or version range, for packages whose names indicate a secret. */
const version =
  /^(?:[~^]|[<>]=?)?v?\d{1,4}\.\d{1,5}\.\d{1,5}(?:-(?:alpha|beta|rc|next|canary|dev|pre|snapshot|nightly)[\w.-]{0,40})?$/i;
/** A URL without credentials and query, such as one to read more at. Only a generated part of its path may be secret, as in a webhook. */
const address = /^https?:\/\/[^\s@?#]+$/i;
/** A status, an error code, a version or a duration. */
const code = /^(?:[A-Z]{1,10}[_-]?\d{1,5}|v?\d{1,4}(?:\.\d{1,5}){1,3}|\d{1,6}(?:ms|s|px|%|m|h|d|kb|mb)?)$/i;

/** How many characters of a value are judged. */
const judged = 256;

/** Whether a value in this context is a secret, rather than code, a placeholder or prose. */
export function isSecretValue(value: string, context: ValueContext): boolean {
  const { name, quoted, tight, numbers } = context;
  const trimmed = value.slice(0, judged).trim();
  if (trimmed.length < 3 || isMasked(trimmed) || isHarmless(trimmed)) return false;
  if (/^[\d.,:-]+$/.test(trimmed)) return numbers && name !== 'possible' && /^\d{4,32}$/.test(trimmed);
  if (address.test(trimmed)) return trimmed.split('/').some((part) => isRandom(part));
  if (!quoted && isCode(trimmed)) return false;
  if (/\s/.test(trimmed)) return name === 'certain' && !isProse(trimmed);
  if (name === 'possible') return isRandom(trimmed) || (tight && isMixed(trimmed) && !code.test(trimmed));
  if (isWordy(trimmed)) return isSecretWord(trimmed, context);
  if (name === 'certain') return true;
  if (isMixed(trimmed)) return !code.test(trimmed) || trimmed.length > 8;
  return isRandom(trimmed) || /[^\w.-]/.test(trimmed) || (tight && !/^[A-Z]{1,10}$/.test(trimmed));
}

/** Whether a value made of words is a secret: it must be in a place for data, and not be a word that programs commonly write there. */
function isSecretWord(value: string, { name, quoted, tight }: ValueContext): boolean {
  // Directly after its name, as in JSON or a query, a value is data even if it is made of words.
  if (name !== 'possible' && tight && value.includes('-')) return value.length >= 6;
  if (!(quoted || tight) || speaksOfSecrets.test(value)) return false;
  if (quoted && tight) return value.length >= 6;
  return (
    /^[A-Za-z][a-z]+$/.test(value) &&
    value.length >= (name === 'certain' ? 4 : 6) &&
    (name === 'certain' || tight)
  );
}

/** Whether a value in a place that only holds secrets is one, rather than a placeholder. */
export function isCertain(value: string): boolean {
  return isSecretValue(value, { name: 'certain', quoted: true, tight: true, numbers: true });
}

/** Whether a value has letters and digits, like an identifier, a hash or a generated password. */
export function isMixed(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** Whether a value looks generated: frequent switches between upper case, lower case and digits, or letter pairs unlike those of words. */
export function isGenerated(value: string): boolean {
  const switches = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])|[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0;
  return (
    value.length >= 16 &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value) &&
    switches >= 6 &&
    (/\d/.test(value) || isUnspoken(value))
  );
}

/** Whether a value looks like a password that a person chose: upper and lower case, digits and a special character. */
export function isChosen(value: string): boolean {
  return [/.{8}/, /[a-z]/, /[A-Z]/, /\d/, /[!#$%&*?^~]/].every((part) => part.test(value));
}

/** Whether a value looks random: not words of a language, with or without a number after them. */
export function isRandom(value: string): boolean {
  if (value.length < 8 || code.test(value) || /\s/.test(value)) return false;
  if (/^\d+$/.test(value)) return false;
  const switches = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  if (switches >= 3 || isUnspoken(value)) return true;
  const parts = partsOf(value);
  const odd = parts.filter((part) => !isWord(part) && !/^\d{1,4}$/.test(part));
  return odd.join('').length * 3 >= value.length;
}

function isHarmless(value: string): boolean {
  return placeholder.test(value) || state.test(value) || typeUnion.test(value) || version.test(value);
}

function isCode(value: string): boolean {
  if (memberOrCall.test(value) || value.startsWith('?')) return true;
  return members.test(value) && value.split(/[^A-Za-z_$\d]+/).every((part) => isWordy(part));
}

/** Whether a value consists only of words, however they are joined. */
function isWordy(value: string): boolean {
  return partsOf(value.replace(/[.,;:!?]+$/, '')).every((part) => isWord(part));
}

function isProse(text: string): boolean {
  const all = text.split(/\s+/);
  const isSaid = (word: string, at: number) =>
    /^[A-Za-z'’()"-]*[.,:;!?)]*$/.test(word) || (/^\d{1,3}$/.test(word) && isCounted(all, at));
  if (!all.every(isSaid)) return false;
  return /^[A-Z]/.test(text) || /[.!?:]$/.test(text) || speaksOfSecrets.test(text) || all.length === 2;
}

/** Whether prose would have a number here: `at least 8`, `12 characters`. */
function isCounted(words: readonly string[], at: number): boolean {
  const before =
    /^(?:least|most|than|min|max|minimum|maximum|to|of|is|in|for|and|or|over|under|within|exactly)$/i;
  return before.test(words[at - 1] ?? '') || /^[a-z]/i.test(words[at + 1] ?? '');
}

/** `accessToken_v2` → access, Token, v, 2. */
function partsOf(value: string): string[] {
  return value.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\w\s.:/@-]+/g) ?? [];
}

/** Short words used in programs that cannot be pronounced. */
const short =
  /^(?:[vxnstkbpc]|db|js|ts|ms|pw|fn|cb|dx|px|src|tmp|pwd|ctx|url|css|img|btn|std|str|jwt|sql|xml|npm|cfg|msg|txt|doc|dev|prd|stg|num|ptr|http|html|json|jsx|tsx|sk|pk|kv|rs|gh)$/i;

/** Whether a part can be pronounced: it has a vowel and no long run of consonants. */
function isWord(part: string): boolean {
  if (!/^[A-Za-z]+$/.test(part)) return false;
  if (part.length <= 3) return /[aeiouy]/i.test(part) || short.test(part);
  return /[aeiouy]/i.test(part) && !/[^aeiouy]{5}/i.test(part) && !/^[A-Z]{16,}$/.test(part);
}
