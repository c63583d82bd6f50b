import { isUnspoken } from './letter-pairs.js';
import { isMasked } from './masks.js';
import type { Strength } from './secret-name.js';

/** What surrounds a value in its text. */
export interface ValueContext {
  readonly name: Strength;
  /** Inside of quotes, or of an element: a value, and no code. */
  readonly quoted: boolean;
  /** Behind a `=` without blanks, in a query, a form or a list of variables: what stands there is data. */
  readonly tight: boolean;
  /** Whether digits alone can be the secret. */
  readonly numbers: boolean;
}

const placeholder =
  /^(?:[*•·.x_-]{3,}|#[\da-f]{3,8}|<[^<>]*>?|\[[^\]]*\]?|\(.*|\{.*|\$.*|%[a-z]|#\{.*|@[A-Za-z]+|&[a-z]+;?|(?:your|my|the|some|insert|enter|put)[-_ ].*|.*(?:example|placeholder|change-?me|redacted|hidden|omitted|here|todo)\W?|[A-Z]{1,4}[-_]\.{2,}|.{0,12}(?:\.{3}|…))$/i;
/** What programs say where a secret would stand: that there is none, and how it fared. */
const state =
  /^(?:true|false|null|none|nil|undefined|unset|empty|missing|required|optional|invalid|valid|expired|wrong|weak|strong|short|medium|ok|yes|no|on|off|active|inactive|enabled|disabled|open|closed|pending|unknown|any|never|object|string|number|boolean|bigint|symbol|void|buffer|bytes|text|varchar|uuid|int|integer|bool|char|str|date|function|async|await|new|const|let|return|typeof|self|this|super|err|error|failed|denied|changed|saved|set|not|is|and|or|for|of|the|bearer|basic|include|omit|same-origin|memory|redis|lax|strict|cookie|cookies|public|private|anonymous|guest|localhost|default|current|new|old|dark|light|accepted|rejected|all)$/i;
const speaksOfSecrets =
  /pass(?:word|wort|phrase|code)?s?(?![a-z])|password|secret|token|credential|api[-_ ]?key|session(?![a-z])|auth|otp|pwd|key$/i;
const typeUnion =
  /^\s*(?:(?:null|undefined|string|number|boolean|any|unknown|never|object)(?:\[\])?\s*(?:\||$)\s*)+$/;
const memberOrCall = /^[!(]?[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|!\.)[A-Za-z_$][\w$]*)*(?:[([<`].*|!|\?\?.*)$/;
const members = /^[!(]?[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|!\.)[A-Za-z_$][\w$]*)+$/;
/** A version, or a range of versions, of a package that is called after secrets. */
const version =
  /^(?:[~^]|[<>]=?)?v?\d{1,4}\.\d{1,5}\.\d{1,5}(?:-(?:alpha|beta|rc|next|canary|dev|pre|snapshot|nightly)[\w.-]{0,40})?$/i;
/** A status, an error's code, a version, a duration. */
const code = /^(?:[A-Z]{1,10}[_-]?\d{1,5}|v?\d{1,4}(?:\.\d{1,5}){1,3}|\d{1,6}(?:ms|s|px|%|m|h|d|kb|mb)?)$/i;

/** What of a value says what it is. */
const judged = 256;

/** Whether a value that stands there is a secret, and no code, no placeholder and nothing that a person would say. */
export function isSecretValue(value: string, context: ValueContext): boolean {
  const { name, quoted, tight, numbers } = context;
  const trimmed = value.slice(0, judged).trim();
  if (trimmed.length < 3 || isMasked(trimmed) || isHarmless(trimmed)) return false;
  if (/^[\d.,:-]+$/.test(trimmed)) return numbers && name !== 'possible' && /^\d{4,32}$/.test(trimmed);
  if (!quoted && isCode(trimmed)) return false;
  if (/\s/.test(trimmed)) return name === 'certain' && !isProse(trimmed);
  if (name === 'possible') return isRandom(trimmed) || (tight && isMixed(trimmed) && !code.test(trimmed));
  if (isWordy(trimmed)) return isSecretWord(trimmed, context);
  if (name === 'certain') return true;
  if (isMixed(trimmed)) return !code.test(trimmed) || trimmed.length > 8;
  return isRandom(trimmed) || /[^\w.-]/.test(trimmed) || (tight && !/^[A-Z]{1,10}$/.test(trimmed));
}

/** Whether what could be a word is the secret: where it can be no code, and is not what stands there in most programs. */
function isSecretWord(value: string, { name, quoted, tight }: ValueContext): boolean {
  // Right behind its name, as in a body of JSON or a query, it is data, whatever words it is made of.
  if (name !== 'possible' && tight && value.includes('-')) return value.length >= 6;
  if (!(quoted || tight) || speaksOfSecrets.test(value)) return false;
  if (quoted && tight) return value.length >= 6;
  return (
    /^[A-Za-z][a-z]+$/.test(value) &&
    value.length >= (name === 'certain' ? 4 : 6) &&
    (name === 'certain' || tight)
  );
}

/** Whether a value that stands where only secrets do is one, and no placeholder. */
export function isCertain(value: string): boolean {
  return isSecretValue(value, { name: 'certain', quoted: true, tight: true, numbers: true });
}

/** Letters and digits, as an identifier, a hash or a generated password has them. */
export function isMixed(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** So mixed that nobody wrote it: capitals and small letters in turn, with digits or in no order that words have. */
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

/** As people choose passwords: capitals, small letters, digits and a mark that stands in no word. */
export function isChosen(value: string): boolean {
  return [/.{8}/, /[a-z]/, /[A-Z]/, /\d/, /[!#$%&*?^~]/].every((part) => part.test(value));
}

/** As only a generator writes: no words of a language, with or without a number behind them. */
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

/** Nothing but words, however they are joined. */
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

/** Whether prose has a number there: `at least 8`, `12 characters`. */
function isCounted(words: readonly string[], at: number): boolean {
  const before =
    /^(?:least|most|than|min|max|minimum|maximum|to|of|is|in|for|and|or|over|under|within|exactly)$/i;
  return before.test(words[at - 1] ?? '') || /^[a-z]/i.test(words[at + 1] ?? '');
}

/** `accessToken_v2` → access, Token, v, 2. */
function partsOf(value: string): string[] {
  return value.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\w\s.:/@-]+/g) ?? [];
}

/** Short words of programs that cannot be spoken. */
const short =
  /^(?:[vxnstkbpc]|db|js|ts|ms|pw|fn|cb|dx|px|src|tmp|pwd|ctx|url|css|img|btn|std|str|jwt|sql|xml|npm|cfg|msg|txt|doc|dev|prd|stg|num|ptr|http|html|json|jsx|tsx|sk|pk|kv|rs|gh)$/i;

/** A word can be spoken: it has a vowel, and few letters without one in a row. */
function isWord(part: string): boolean {
  if (!/^[A-Za-z]+$/.test(part)) return false;
  if (part.length <= 3) return /[aeiouy]/i.test(part) || short.test(part);
  return /[aeiouy]/i.test(part) && !/[^aeiouy]{5}/i.test(part) && !/^[A-Z]{16,}$/.test(part);
}
