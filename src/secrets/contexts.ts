import {
  fieldWords,
  isGenerated,
  hasLettersAndDigits,
  isSecretField,
  isSecretValue,
  nameSecretKind,
  classifyName,
  type ValueContext,
} from './secret-fields.js';
import type { SecretMatch } from './reading.js';

/** Finds secrets by their context: in fields, headers, cookies and URLs. */
export function findInContext(text: string): SecretMatch[] {
  return [
    ...findFields(text),
    ...findCookies(text),
    ...findTags(text),
    ...contexts.flatMap((context) => findSecretsInContext(context, text)),
  ];
}

/** A quote, perhaps escaped: in JSON, in JSON within JSON, and so on. */
const quote = String.raw`\\{0,15}["'\x60]`;
const optionalQuote = `(?:${quote})?`;
/** Matches a value up to the same quote, which is missing if the text was cut; `first` is not part of the secret. */
const createQuotedPattern = (first = '') =>
  String.raw`(?<quote>${quote})${first}(?=(?<secret>(?:(?!(?<!\\)\k<quote>)[^\n]){1,4096}))`;
/** A word without quotes that is not a function call or an element of a list. */
const unquotedWord = String.raw`(?![!(]?[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|!\.)[A-Za-z_$][\w$]*)*[([])(?=(?<secret>[^\s"'\x60<>,;|)\]}&\\]{1,4096}))`;
const restOfLine = String.raw`(?=(?<secret>[^\s<>][^\r\n<>]{0,4096}))`;

/** The text between a name and its value, with a lookahead for the value, and how strictly to judge the value. */
const valuePatterns: readonly { readonly pattern: RegExp; readonly context: ValueContext | 'pair' }[] = (
  [
    // `"name": "value"`, `name = 'value'`, `"name" => "value"`, `name: string = "value"`, `"name": ["value"`, `"name": {"value": "value"`.
    [
      'data',
      String.raw`(?:${quote}|\])*[?!]?(?:\s?:\s?(?:string|str|&str))?\s{0,8}(?:=>|:=|=|:|\?\?|\|\|)\s{0,40}(?:string\(\d{1,6}\) |[[(]\s{0,40}|Some\(\s{0,40}|\{\s{0,40}${optionalQuote}value${optionalQuote}\s?:\s?)?${createQuotedPattern()}`,
    ],
    // `"name":"value"`.
    ['tight', String.raw`${quote}:${createQuotedPattern()}`],
    // `name=value` in queries, forms, settings and logs.
    ['tight', String.raw`\]?=(?!=)${unquotedWord}`],
    // `--name value`.
    ['data', String.raw`(?<=\s--?[\w-]{2,64})[ \t]{1,4}(?!-)${unquotedWord}`],
    ['data', String.raw`(?<=\s--?[\w-]{2,64})[ \t]{1,4}${createQuotedPattern()}`],
    // `name: value`, `"name": value`, `name 'value'`, `name === 'value'`.
    ['open', String.raw`(?:${quote}|\])?[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}${unquotedWord}`],
    ['open', String.raw`[ \t]{0,4}(?:={2,3}|[ \t])[ \t]{0,4}${createQuotedPattern()}`],
    // `<name>value</name>`, `<name attribute>value`.
    ['data', String.raw`(?<=<(?:[\w-]{1,32}:)?[\w-]{2,64})(?:\s[^<>\n]{0,200})?>${restOfLine}`],
    // `name="name" value="value"`, `"name": "name", "value": "value"`.
    [
      'data',
      String.raw`(?<=\b(?:name|key|property)${optionalQuote}\s{0,4}[=:]\s{0,4}${optionalQuote}[\w.$-]{2,128})${optionalQuote}(?:\s{0,4},\s{0,40}|\n\s{1,40}|[^<>\n]{0,200}?\s)${optionalQuote}(?:value|content)${optionalQuote}\s{0,4}[=:]\s{0,4}${createQuotedPattern()}`,
    ],
    // A part of a multipart form.
    [
      'data',
      String.raw`(?<=\bname="[\w.[\]-]{2,64})"(?:;[^\n]{0,200})?(?:\s{1,40}content-[^\n]{0,128})?(?:(?:\r?\n[ \t]{0,40}){2}|\s{2,4})${restOfLine}`,
    ],
    // `["name", "value"]`, `set('name', 'value')`.
    ['pair', String.raw`${quote}\s{0,8},\s{0,8}${createQuotedPattern()}`],
  ] as const
).map(([context, pattern]) => ({ context, pattern: new RegExp(pattern, 'iy') }));

/** A part of a name that may mean a secret; `classifyName` judges the whole name. */
const secretNameHint =
  /pass|pw|secret|token|key|cred|jwt|bearer|otp|pin|cv[vc]|sess|sid|sig|csrf|xsrf|auth|code|verif|nonce|salt|pepper|seed|pat\b|assertion|saml/gi;
const MAX_NAME_LENGTH = 64;

function findFields(text: string): SecretMatch[] {
  const matches: SecretMatch[] = [];
  secretNameHint.lastIndex = 0;
  for (let match = secretNameHint.exec(text); match !== null; match = secretNameHint.exec(text)) {
    const [start, end] = findNameAround(text, match.index, secretNameHint.lastIndex);
    secretNameHint.lastIndex = Math.max(end, secretNameHint.lastIndex);
    const name = text.slice(start, end);
    if (classifyName(name) === null) continue;
    for (const { context, pattern } of valuePatterns) {
      pattern.lastIndex = end;
      const value = pattern.exec(text)?.groups?.['secret'];
      if (value === undefined) continue;
      if (!(context === 'pair' ? isGenerated(value) : isSecretValue(value, context, name))) continue;
      matches.push({
        start: pattern.lastIndex,
        end: pattern.lastIndex + value.length,
        kind: nameSecretKind(name),
      });
    }
  }
  return matches;
}

function findNameAround(text: string, from: number, to: number): readonly [start: number, end: number] {
  let [start, end] = [from, to];
  while (start > 0 && from - start < MAX_NAME_LENGTH && /[\w$-]/.test(text[start - 1] ?? '')) start -= 1;
  while (end < text.length && end - to < MAX_NAME_LENGTH && /[\w$-]/.test(text[end] ?? '')) end += 1;
  while (end > to && text[end - 1] === '-') end -= 1;
  const [kind = ''] =
    /(?:api|access|secret|private) $/i.exec(text.slice(Math.max(0, start - 8), start)) ?? [];
  return [start - kind.length, end];
}

/** The scheme of credentials (RFC 9110, 11.4). */
const scheme = String.raw`(?:[A-Za-z][\w-]{1,30}[ \t]{1,4})?`;

/** Where the cookies of a header, of `document.cookie` or of curl's arguments begin. */
const cookiesStart =
  /(?:cookie2?\b|\s-b)(?:["'\x60\\])*(?: is)?\s{0,4}(?:=>|[:=,]|\s)\s{0,4}[[(]?\s{0,4}(?:["'\x60\\])*/gi;
/** A cookie or an attribute of one (RFC 6265, 4), or the first of the next header in a list. */
const cookie =
  /(?:;\s{0,4}|["'\\]{1,8}\s{0,4},\s{0,4}["'\\]{1,8}|(?<![\w;]))(?<name>[\w!#$%&*+.^|~-]{1,128})(?:=(?<value>[^;"'\x60\\\n]{0,4096}))?/y;
const cookieAttribute = /^(?:path|domain|expires|max-age|samesite|priority)$/i;

function findCookies(text: string): SecretMatch[] {
  const matches: SecretMatch[] = [];
  let end = 0;
  for (const { 0: before, index } of text.matchAll(cookiesStart)) {
    if (index < end) continue;
    end = index + before.length;
    cookie.lastIndex = end;
    for (let match = cookie.exec(text); match !== null; match = cookie.exec(text)) {
      end = cookie.lastIndex;
      const { name = '', value: all = '' } = match.groups ?? {};
      const [value = ''] = all.split(/[\s,]/);
      if (cookieAttribute.test(name) || !isSecretValue(value, 'data')) continue;
      if (!(hasLettersAndDigits(value) && value.length >= 8) && classifyName(name) !== 'secret') continue;
      const start = end - all.length;
      matches.push({ start, end: start + value.length, kind: 'cookie' });
    }
  }
  return matches;
}

const tag = /<(?:input|meta)\s(?=(?<attributes>[^<>]{1,8192}))/gi;
const tagAttribute =
  /(?<name>[\w:.-]{1,64})\s{0,4}=\s{0,4}(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\s"']{1,4096}))/dg;

/** Finds the values of secret fields in tags, with attributes in any order. */
function findTags(text: string): SecretMatch[] {
  return [...text.matchAll(tag)].flatMap(({ 0: before, index, groups: { attributes = '' } = {} }) => {
    const all = [...attributes.matchAll(tagAttribute)].map(({ groups = {}, indices }) => {
      const { name = '', double, single, bare } = groups;
      const range = indices?.groups?.['double'] ?? indices?.groups?.['single'] ?? indices?.groups?.['bare'];
      return { name: name.toLowerCase(), value: double ?? single ?? bare ?? '', range: range ?? [0, 0] };
    });
    const field = Object.fromEntries(all.map(({ name, value }) => [name, value]));
    const valueAttribute = all.find(({ name, value }) => name === 'value' && value.trim() !== '');
    if (!valueAttribute || !isSecretField(field)) return [];
    const start = index + before.length;
    const kind = nameSecretKind(field['name'] ?? field['id'] ?? 'password');
    return [{ start: start + valueAttribute.range[0], end: start + valueAttribute.range[1], kind }];
  });
}

interface SecretContext {
  readonly kind: string;
  /** Matches up to the secret, which a lookahead captures. Every quantifier is bounded, since texts may be hostile. */
  readonly pattern: RegExp;
  readonly isSecret?: (value: string) => boolean;
}

const contexts: readonly SecretContext[] = [
  ...[
    createQuotedPattern(scheme),
    String.raw`${scheme}(?=(?<secret>(?:="[^"\n]{0,512}"|[^\n\\"'\x60<>[\]{}]){4,16384}))`,
  ].map((value) => ({
    kind: 'credentials',
    pattern: new RegExp(
      String.raw`authorization${optionalQuote}\s{0,4}(?:=>|[:=,])\s{0,4}[[(]?\s{0,4}${value}`,
      'gi',
    ),
    isSecret: isCredentials,
  })),
  {
    kind: 'credentials',
    pattern: /\bBearer(?:\s{1,4}|\+)(?=(?<secret>[\w.~+/-]{6,16384}={0,2}))/gi,
    isSecret: (value) => isSecretValue(value, 'open'),
  },
  {
    kind: 'credentials',
    pattern: /\bBasic(?:\s{1,4}|\+)(?=(?<secret>[\w+/-]{6,2048}={0,2}))/gi,
    isSecret: isBasic,
  },
  // In a storage state or `addCookies`.
  {
    kind: 'cookie',
    pattern: new RegExp(
      String.raw`name${optionalQuote}\s{0,4}:\s{0,4}${quote}[^"'\n\\]{1,128}${quote}\s{0,4},\s{0,40}${optionalQuote}value${optionalQuote}\s{0,4}:\s{0,4}(?<quote>${quote})(?=(?<secret>[^"'\n\\]{1,4096})${quote}\s{0,4},\s{0,40}${optionalQuote}(?:domain|path|url|expires|httpOnly))`,
      'g',
    ),
  },
  { kind: 'password', pattern: /:\/\/[^\s/?#"'`<>:@]{0,256}:(?=(?<secret>[^\s/?#"'`<>]{1,512})@)/g },
  { kind: 'credentials', pattern: /:\/\/(?=(?<secret>[^\s/?#"'`<>:@]{16,512})@)/g },
  // Text that a test types into a secret field, as shown in steps, source code, call logs and page snapshots.
  ...[
    String.raw`\b(?:fill|type|press sequentially)[ (]{1,2}"(?=(?<secret>[^"\n]+)"[^\n]{0,256}(?:${fieldWords}))`,
    String.raw`\.(?:fill|type|pressSequentially)\(\s{0,4}(?<=(?:${fieldWords})[^\n]{0,200}(?:\n\s{0,80})?\.\w{4,17}\(\s{0,4})(?<quote>["'\x60])(?=(?<secret>[^"'\x60\n]+)\k<quote>\s{0,4}(?:\)|,\s{0,4}\{))`,
    String.raw`\.(?:fill|type)\(\s{0,4}(?<quote>["'\x60])[^\n]{0,80}?(?:${fieldWords})[^\n]{0,80}?\k<quote>,\s{0,4}["'\x60](?=(?<secret>[^"'\x60\n]+))`,
    String.raw`\b(?:fill|type|pressSequentially)\((?<=(?:${fieldWords})[^\n]{0,1000}\n(?:[^\n]{0,1000}\n){0,11}[ \t-]{0,8}\w{4,17}\()"(?=(?<secret>(?:[^"\\\n]|\\.)+))`,
    String.raw`textbox "[^"\n]{0,64}(?:${fieldWords})[^"\n]{0,64}"(?: \[[^\]\n]{0,40}\]){0,6}: (?=(?<secret>\S[^\n]*))`,
  ].map((pattern) => ({ kind: 'password', pattern: new RegExp(pattern, 'gi') })),
];

function findSecretsInContext(
  { kind, pattern, isSecret = isActualValue }: SecretContext,
  text: string,
): SecretMatch[] {
  const matches: SecretMatch[] = [];
  // `matchAll` copies the expression each time, which costs more than searching a line.
  if (text.search(pattern) === -1) return matches;
  for (const { 0: before, index, groups = {} } of text.matchAll(pattern)) {
    const { secret = '' } = groups;
    const start = index + before.length;
    if (isSecret(secret)) matches.push({ start, end: start + secret.length, kind });
  }
  return matches;
}

/** True for an actual value, false for a placeholder. */
function isActualValue(text: string): boolean {
  return !/^(?:\$\{?[A-Za-z_][^}]*\}?|<[^<>]*>|\*+|%s|\{\{.*\}\}|\[.*)$/.test(text);
}

function isCredentials(text: string): boolean {
  const [first = ''] = text.split(/[\s,]/);
  return (
    isSecretValue(first, 'open') ||
    (/[="]/.test(text) && hasLettersAndDigits(text) && /^[\w"=,. /:+;~-]{16,}$/.test(text))
  );
}

/** True for encoded credentials, false for prose such as "Basic authentication". */
function isBasic(encoded: string): boolean {
  const decoded = Buffer.from(encoded, 'base64').toString('latin1');
  return /^[^:]{0,256}:/.test(decoded) && /^[\x20-\x7e\x80-\xff]*$/.test(decoded);
}
