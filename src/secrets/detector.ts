import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import { providerTokens } from './provider-tokens.js';
import { findInContext } from './contexts.js';
import { isGenerated } from './secret-fields.js';
import type { SecretMatch } from './reading.js';

/**
 * Preset rules that we omit. One lets a comment in a text disable the others, which a page must not be able to do. The others mask whole URLs
 * and files, although agents need most of their text.
 */
const omittedRule = /-(?:filter-comments|basicauth|database-connection-string|gcp)$/;

/** Tokens that secretlint 13 does not know, from the issuers' documentation. */
const otherTokens: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['doppler token', /(?<![\w-])dp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{20,128}/g],
  ['render key', /(?<![\w-])rnd_[A-Za-z\d]{20,64}/g],
  ['google key', /(?<![\w-])(?:AIza[\w-]{35}|ya29\.[\w-]{20,2048}|GOCSPX-[\w-]{20,64})/g],
  ['supabase key', /(?<![\w-])(?:sb_secret_[\w-]{16,128}|sbp_[\da-f]{32,64})/g],
];

/** RFC 7519 and RFC 7516: signed, encrypted, or cut off after its claims. Some stores put a prefix before it (`base64-`). */
const jwt = /eyJ[\w-]{8,2048}\.(?:[\w-]{0,16384}\.){0,4}[\w-]{0,16384}/g;

/** JSON in base64, as apps keep their state in local storage and cookies; longer ones are files, such as source maps. */
const encodedJson = /eyJ[\w+/-]{37,8192}={0,2}(?![\w+/-])/g;

const providerPattern = new RegExp(
  String.raw`(?<![\w-])(?:${providerTokens.map(([, shape]) => shape).join('|')})(?![\w-])`,
  'g',
);

/** A prefix and a long generated value, as most issuers write their tokens. */
const prefixedToken =
  /(?<![\w-])(?!sha\d)[a-z][a-z\d]{1,11}(?:[_-][a-z\d]{1,8}){0,2}[_-](?=[\w-]{32,512}(?![\w-]))[\w-]+/g;

const privateKeys: readonly RegExp[] = [
  // Also a key without its end, if the text was cut.
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[^{}();]{0,16384}?-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?:\s{0,4}(?:Proc-Type|DEK-Info): [^\n]{1,200}){0,4}(?:\W{0,12}[\w+/=]{16,}){0,400}(?:\W{0,3}[\w+/=]+)?)/g,
  // Base64 of `-----BEGIN`, as Kubernetes and CI settings hold keys.
  /LS0tLS1CRUdJTi[\w+/=-]{40,16384}/g,
];

type Rule = { create(context: unknown, options: object): { file?(source: unknown): unknown } };
type Range = readonly [start: number, end: number];

const scanners = rules
  .filter((rule) => !omittedRule.test(rule.meta.id))
  .map((rule) => ({ kind: nameTokenKind(rule.meta.id), scan: createScan(rule as unknown as Rule) }));

/** Returns a function that applies a rule. Creates the rule only once, since that takes longer than applying it to a short text. */
function createScan(rule: Rule): (source: object) => readonly Range[] {
  let ranges: Range[] = [];
  const report = ({ range }: { range: Range }) => void ranges.push(range);
  const context = { sharedOptions: {}, createTranslator: () => () => '', ignore: () => undefined, report };
  const ruleInstance = rule.create(context, {});
  return (source) => {
    ranges = [];
    ruleInstance.file?.(source);
    return ranges;
  };
}

/** Every token has this many characters without a space, and every private key begins like this. */
const tokenHint = /\S{12}|-----BEGIN/;
/** The id of a Playwright test, which has the shape of no token; a run has thousands. */
const testId = /^[\da-f]{20}-[\da-f]{20}$/;

/**
 * Finds tokens and keys by their shape. We run secretlint's rules ourselves because `lintSource` of `@secretlint/core` is asynchronous,
 * although no rule for text is, and obeys `secretlint-disable` in the text.
 */
export function findTokens(text: string): SecretMatch[] {
  if (!tokenHint.test(text) || testId.test(text)) return [];
  const matches: SecretMatch[] = [];
  const source = { filePath: '', ext: '', contentType: 'text', content: text, hasBOM: false };
  for (const { kind, scan } of scanners)
    // Extends the match to the end of the word, because issuers make tokens longer than the rules know.
    for (const [start, end] of scan(source)) matches.push({ start, end: findWordEnd(text, end), kind });
  const add = (kind: string, pattern: RegExp, isSecret: (token: string) => boolean = () => true): void => {
    for (const { 0: token, index } of text.matchAll(pattern))
      if (isSecret(token)) matches.push({ start: index, end: index + token.length, kind });
  };
  add('jwt', jwt, isJwt);
  add('token', encodedJson, hidesSecret);
  for (const [kind, pattern] of otherTokens) add(kind, pattern);
  for (const { 0: token, index: start } of text.matchAll(providerPattern)) {
    const [kind = ''] = providerTokens.find(([, shape]) => new RegExp(`^(?:${shape})$`).test(token)) ?? [];
    matches.push({ start, end: start + token.length, kind });
  }
  for (const pattern of privateKeys) add('private key', pattern);
  add('token', prefixedToken, isToken);
  return matches;
}

/** True if the text begins with a JSON header, unlike `keyJsHandler.addEventListener`. */
function isJwt(text: string): boolean {
  return /^\{"[\w#-]{1,32}":/.test(Buffer.from(text.slice(0, 64), 'base64url').toString('latin1'));
}

function hidesSecret(encoded: string): boolean {
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return findInContext(text).length > 0 || (text.match(jwt) ?? []).some(isJwt);
}

const restOfWord = /(?:[\w-]|\.(?=\w))*/y;

function findWordEnd(text: string, from: number): number {
  restOfWord.lastIndex = from;
  restOfWord.test(text);
  return restOfWord.lastIndex;
}

/** True if upper case, lower case and digits alternate, unlike in names of classes and files; false for a name with a date. */
function isToken(text: string): boolean {
  return (
    isGenerated(text) &&
    !/\d{4}-\d{2}-\d{2}/.test(text) &&
    (text.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0) >= 4
  );
}

/** `@secretlint/secretlint-rule-sendgrid` → `sendgrid key`. */
function nameTokenKind(ruleId: string): string {
  const name = ruleId.replace(/^.*rule-/, '');
  if (name === 'privatekey') return 'private key';
  return name === 'github' || name === 'npm' || name === 'slack' ? `${name} token` : `${name} key`;
}
