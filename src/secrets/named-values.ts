import type { Found } from './found.js';
import { credentialsIn, cookiesIn } from './header-values.js';
import { isChosen, isGenerated, isRandom, isSecretValue, type Standing } from './secret-value.js';
import { kindOfName, namesANumber, strengthOfName, type Strength } from './secret-name.js';

/** Where a name may begin that says secret; what is meant by the whole of it is asked of `strengthOfName`. */
const hint =
  /pass|pwd|secret|token|key|cred|auth|bearer|jwt|otp|pin|cv[vc]|mfa|2fa|code|sess|sid|sig|csrf|xsrf|cookie|nonce|salt|pepper|seed|mnemonic|sk\b|ticket|saml|pat\b|pw/gi;
const longestName = 64;
const longestValue = 16_384;
/** Without quotes, where every name on a line without blanks has the rest of it for a value. */
const longestWord = 4096;

/** A name in a text, and how its value is joined to it. */
interface Named {
  readonly text: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly strength: Strength;
  /** How far the lists are known, so that what stands in a list of lists is looked at once. */
  readonly lists: { end: number; near: number };
}

/** Where a value stands, and what of the name's strength is left to it. */
interface Place {
  readonly at: number;
  readonly tight?: boolean;
  /** Only what a generator made is one there: code has the same form. */
  readonly random?: boolean;
  /** What ends a value without quotes. */
  readonly until?: RegExp;
}

/** Finds the values of what says by its name that it is a secret, in any notation. */
export function findNamedValues(text: string): Found[] {
  const found: Found[] = [];
  const lists = { end: 0, near: 0 };
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
    const header = /^(?:http_)?(?:(?:proxy[-_])?authorization|(?:set-)?cookie2?|[\w-]+-signature)$/i.test(
      name,
    );
    const known = strengthOfName(name);
    const strength = known ?? (header || isLooseName(name) ? 'possible' : null);
    if (strength === null) continue;
    if (known === 'certain' || known === 'likely')
      found.push(...generatedNear(text, { start, end, name }, lists));
    const named = { text, name, start, end, strength, lists };
    const values = header ? headerValues(named) : valuesOf(named);
    found.push(...values);
    hint.lastIndex = Math.max(hint.lastIndex, values.at(-1)?.end ?? 0);
  }
  return found;
}

/** Characters around a name that are looked at for what nobody wrote. */
const nearby = 200;

/** What a generator made, on the line of a name that says secret, or alone on the next one (or as pydantic tells of
 * it): whatever the notation is. */
function generatedNear(
  text: string,
  { start, end, name }: Pick<Named, 'start' | 'end' | 'name'>,
  seen: { near: number },
): Found[] {
  const furthest = Math.max(0, start - nearby);
  const lineStart = furthest + text.slice(furthest, start).lastIndexOf('\n') + 1;
  const from = Math.max(seen.near, lineStart);
  const [line = '', next = ''] = text.slice(from, end + nearby).split('\n', 2);
  const near = /^\s*\S+\s*$|input_value=/.test(next) ? `${line}\n${next}` : line;
  seen.near = Math.max(seen.near, from + near.length - longestName);
  return (
    [...near.matchAll(/(?<![\w/.+~-])[\w+~-]{16,512}={0,2}(?![\w/.+~-])/g)]
      // Of a hash, and of a word in which the name itself stands, nobody says that it is secret.
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

/** `name: value`, `name=value`, `"name" => value`, `name: string = value`, `NAME ?? value`. */
const assigned =
  /(?<close>["'`\])]{0,4})[?!]?(?:\s{0,2}:\s{0,2}(?:string|String|str|&str|&'static str)(?:\s?\|\s?null)?(?=\s{0,2}=))?(?<blank>[ \t]{0,40})(?<sign>=>|:=|={1,3}|:|\?\?=?|\|\|=?)(?:\s{0,40}(?=["'`])|[ \t]{0,40})(?:\n\s{0,8}string\(\d{1,6}\) )?/y;
/** `["name", "value"]`, `set('name', 'value')`, `name │ 'value'`, `"name" "value"`. */
const paired = /(?:["'`]?\s{0,8}(?:,|[│|])\s{0,8}|["'`][ \t]{1,4})(?=["'`])/y;
/** `name: 'x', value: …` and `name="x" value="…"`. */
const besideName =
  /[ \t]{0,4}\n[ \t]{0,40}value: {0,4}(?=["'])|["']\s{0,4},\s{0,40}["']?value["']?\s{0,4}:\s{0,4}(?=["'])|["'][^<>\n]{0,200}?\s(?:value|content)=(?=["'])/y;
/** `<name>value</name>`. */
const element = /(?:\s[^<>\n]{0,200})?>(?=[^<\s])/y;
/** `--name value`. */
const flagged = /[ \t]{1,4}(?=[^\s-])/y;
/** `PASSWORD 'value'`, `name value`, `name is value`. */
const apart = /[ \t]{1,4}(?:(?:is|was|as|of|->|→|:)[ \t]{1,4})?/y;
/** A part of a multipart form, with a log's stamps in front of its lines. */
const part = /["'](?:;[^\n]{0,200})?(?:\r?\n(?:\d{12,14} )?(?:content-[^\n]{0,128})?){2,4}/iy;
/** What an accessibility snapshot shows to be typed. */
const typed = /(?: [\w ]{1,40})?"(?: \[[^\]\n]{0,40}\]){0,6}: (?=\S)/y;

function placeOf(named: Named): Place | null {
  const { text, start, end, name } = named;
  const before = text.slice(Math.max(0, start - 80), start);
  const at = (pattern: RegExp): number | null => {
    pattern.lastIndex = end;
    return pattern.test(text) ? pattern.lastIndex : null;
  };
  const toElement = /<(?:[\w-]{1,32}:)?$/.test(before) ? at(element) : null;
  if (toElement !== null) return { at: toElement, tight: true, until: /</ };
  const toPart = /\bname="$/i.test(before) ? at(part) : null;
  if (toPart !== null) return { at: toPart, tight: true, until: /[\r\n]/ };
  const toTyped = /textbox "[^"\n]{0,64}$/.test(before) ? at(typed) : null;
  if (toTyped !== null) return { at: toTyped, tight: true, until: /\n/ };
  const beside = at(besideName);
  if (beside !== null && /["']$|\bname: {1,4}$/.test(before)) return { at: beside, tight: true };
  const pair = at(paired);
  if (pair !== null) return { at: pair, random: true };
  const isFlag = /(?:^|[\s"'`([])--?$/.test(before);
  assigned.lastIndex = end;
  const sign = assigned.exec(text)?.groups;
  if (sign) {
    const isQuery = /[?&#;][\w.[\]-]{0,40}$/.test(before);
    // A name in quotes with no blank behind the colon is JSON as a program writes it: data.
    const isJson = named.strength === 'certain' && before.endsWith('"') && text.startsWith('":"', end);
    const tight =
      isQuery ||
      isFlag ||
      isJson ||
      (sign['sign'] === '=' && sign['blank'] === '' && !/\s$/.test(text.slice(end, assigned.lastIndex)));
    return { at: assigned.lastIndex, tight, ...(isQuery ? { until: /[\s&"'<>#;`\\]/ } : {}) };
  }
  const flag = isFlag ? at(flagged) : null;
  if (flag !== null) return { at: flag, tight: true };
  const gap = at(apart);
  if (gap === null) return null;
  return { at: gap, random: !/^["'`]/.test(text.slice(gap)) || name === name.toLowerCase() };
}

function valuesOf(named: Named): Found[] {
  const place = placeOf(named);
  if (place === null) return [];
  const { text, name, strength, lists } = named;
  const kind = kindOfName(name);
  return stretchesAt(text, place, lists).flatMap(({ start, end, quoted, listed }) => {
    const value = text.slice(start, end);
    const standing: Standing = {
      name: strength,
      quoted,
      tight: place.tight ?? false,
      numbers: namesANumber(name),
    };
    if (
      (place.random || listed) &&
      !isRandom(value) &&
      (listed || strength !== 'certain' || !isChosen(value))
    )
      return [];
    if (isLooseName(name) && !quoted) return [];
    return isSecretValue(value, standing) || isShortCode(value, standing) ? [{ start, end, kind }] : [];
  });
}

/** A one-time code has six digits; a status has three, an error of a database five. */
function isShortCode(value: string, { quoted, tight, numbers }: Standing): boolean {
  return numbers && (quoted || tight) && /^\d{6}$/.test(value);
}

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
  /** One of several. */
  readonly listed?: boolean;
}

function stretchesAt(text: string, { at, until }: Place, lists: { end: number }): Stretch[] {
  const first = text[at] ?? '';
  if (until === undefined && /[[{(]/.test(first)) {
    if (at < lists.end) return [];
    const listed = listAt(text, at);
    lists.end = listed.at(-1)?.end ?? at;
    return listed;
  }
  const [quote] = /^(?:[brf@]?["'`])/.exec(text.slice(at, at + 2)) ?? [''];
  if (quote !== '') return [quotedAt(text, at + quote.length - 1)];
  const pattern = until ?? /[\s"'`<>,;|)\]}&\\]/;
  const length = text.slice(at, at + longestWord).search(pattern);
  return [
    {
      start: at,
      end: length === -1 ? Math.min(text.length, at + longestWord) : at + length,
      quoted: until !== undefined,
    },
  ];
}

/** What stands in quotes; where they are not closed, the text was cut there. */
function quotedAt(text: string, at: number): Stretch {
  const quote = text[at] ?? '';
  const ends = quote === '`' ? quote : `${quote}\n`;
  let end = at + 1;
  while (end < text.length && end - at < longestValue && !ends.includes(text[end] ?? '')) {
    end += text[end] === '\\' ? 2 : 1;
  }
  return { start: at + 1, end: Math.min(end, text.length), quoted: true };
}

const longestList = 1000;

/** What stands in a list or an object: its strings, or, as Go prints them, its words. */
function listAt(text: string, at: number): Stretch[] {
  const closing = text.slice(at, at + longestList).search(/[\]})]/);
  const end = closing === -1 ? Math.min(text.length, at + longestList) : at + closing;
  const inside = text.slice(at, end);
  return [...inside.matchAll(/["'`]([^"'`\n]+)["'`]|[^\s"'`,;:()[\]{}]+/g)].map((match) => {
    const isQuoted = match[1] !== undefined;
    const start = at + match.index + (isQuoted ? 1 : 0);
    return { start, end: start + (match[1] ?? match[0]).length, quoted: isQuoted, listed: true };
  });
}

/** `Authorization` and the cookies: a list, a string or the rest of the line, which has parts of its own. */
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
  if (/[[(]/.test(first)) return headersInList(text, at).flatMap((one) => inside(text, one));
  const quote = text.slice(Math.max(0, named.start - 1), named.start);
  const near = text.slice(at, at + longestWord);
  const ends = [near.indexOf('\n'), /["'`]/.test(quote) ? near.indexOf(quote) : -1, near.length];
  return inside(text, { start: at, end: at + Math.min(...ends.filter((one) => one >= 0)) });
}

function headersInList(text: string, at: number): { start: number; end: number }[] {
  const closing = text.slice(at, at + longestList).search(/[\])]/);
  const end = closing === -1 ? Math.min(text.length, at + longestList) : at + closing;
  const strings = [...text.slice(at, end).matchAll(/(["'])([^\n]*?)\1/g)].map((match) => ({
    start: at + match.index + 1,
    end: at + match.index + match[0].length - 1,
  }));
  return strings.length > 0 ? strings : [{ start: at + 1, end }];
}
