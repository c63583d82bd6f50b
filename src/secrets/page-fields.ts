import type { Place } from './place.js';
import { isChosen, isMixed, isRandom } from './secret-value.js';

const fieldWords =
  'passwor[dt]|passphrase|passcode|secret|token|api key|verification|one.time|security code|otp|2fa';
/** Fields may also show ordinary text, so words, CSS classes and counts are not secrets here. */
const shown = (text: string) =>
  isRandom(text) || isChosen(text) || /^\d{6,8}$/.test(text) || (isMixed(text) && /^[^-_.]{6,}$/.test(text));

/** Values typed into a field: in step titles, test snippets, call logs and the page's HTML. */
const typed = [
  new RegExp(
    `\\b(?:fill|type|press sequentially)[ (]{1,2}"(?<secret>[^"\\n]+)"(?=[^\\n]{0,256}(?:${fieldWords}))`,
    'gi',
  ),
  new RegExp(
    `(?:${fieldWords})[^\\n]{0,200}?(?:\\)\\s{0,80})?\\.(?:fill|type|pressSequentially)\\(\\s{0,4}["'\`](?<secret>[^"'\`\\n]+)["'\`]\\s{0,4}(?:\\)|,\\s{0,4}\\{)`,
    'gi',
  ),
  new RegExp(
    `\\.(?:fill|type)\\(\\s{0,4}(?<quote>["'\`])[^\\n]{0,80}?(?:${fieldWords})[^\\n]{0,80}?\\k<quote>,\\s{0,4}["'\`](?<secret>[^"'\`\\n]+)`,
    'gi',
  ),
  new RegExp(
    `(?:${fieldWords})(?:[^\\n]{0,1000}\\n){1,12}?(?:\\d{12,14} )?[ \\t-]{0,8}(?:fill|type|pressSequentially)\\("(?<secret>(?:[^"\\\\\\n]|\\\\.)+)`,
    'gi',
  ),
  /<input(?=[^<>]{0,400}type=\\?["']password)[^<>]{0,400}?\bvalue=\\?["'](?<secret>[^"'\\<>]+)/gi,
];

/** Values typed into a page or shown by one. */
export const pageFields: readonly Place[] = [
  ...typed.map((pattern) => ({ kind: 'password', pattern })),
  // Values that an assertion found in a field or in an element that shows a secret.
  {
    kind: 'secret',
    pattern: new RegExp(
      `(?:Expected|Received|unexpected value)[^"\\n]{0,40}"(?<=Locator:[^\\n]{0,400}?(?:${fieldWords})[^\\n]{0,400}\\n(?:[^\\n]{0,400}\\n){0,12}[^\\n]{0,40}")(?<secret>[^"\\n\\s]{4,512})"`,
      'gi',
    ),
    isSecret: shown,
  },
];
