import type { Found } from './found.js';
import { assigned, besideName, paired, type Named } from './notations.js';
import { isMixed, isSecretValue, type Standing } from './secret-value.js';
import { longestWord, quotedAt, stringsInList, type Stretch } from './stretches.js';

const asCredentials: Standing = { name: 'likely', quoted: false, tight: true, numbers: false };

type Range = Pick<Stretch, 'start' | 'end'>;

/** Whether a header of this name has a value with parts of its own. */
export function isHeader(name: string): boolean {
  return /^(?:http_)?(?:(?:proxy[-_])?authorization|(?:set-)?cookie2?|[\w-]+-signature)$/i.test(name);
}

/** `Authorization` and the cookies: a list, a string or the rest of the line, which has parts of its own. */
export function headerValues(named: Named): Found[] {
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
  // An escaped end of a line, or of the string that all of it stands in, is one too.
  const ends = [near.search(/\n|\\+[nr"']/), /["'`]/.test(quote) ? near.indexOf(quote) : -1, near.length];
  return inside(text, { start: at, end: at + Math.min(...ends.filter((one) => one >= 0)) });
}

/** The secret in the value of an `Authorization` header: what stands behind its scheme (RFC 9110, 11.4). */
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

/** The secrets in the value of a cookie header: every value that is no setting of the page (RFC 6265, 4). */
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
