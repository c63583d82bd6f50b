import type { Found } from './found.js';
import { isMixed, isSecretValue, type Standing } from './secret-value.js';

const asCredentials: Standing = { name: 'likely', quoted: false, tight: true, numbers: false };

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The secret in the value of an `Authorization` header: what stands behind its scheme (RFC 9110, 11.4). */
export function credentialsIn(text: string, { start, end }: Stretch): Found[] {
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
export function cookiesIn(text: string, { start, end }: Stretch): Found[] {
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
