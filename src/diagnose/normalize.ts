import { stripAnsi } from '../visible-text.js';

/** The order matters: a later pattern could match a piece of a text that an earlier one replaces. */
const volatileParts: readonly (readonly [RegExp, string])[] = [
  // The amount of output before a browser closes depends on timing.
  [/^Browser logs:\n<launching>[^]*?(?=^Call log:|(?![^]))/gm, 'Browser logs\n'],
  // The number of Playwright's retries depends on timing: `14 × locator resolved to …`, `retrying click action, attempt #3`.
  [/^(?:- )?(?:\d{1,6} × )?(?:retrying \w{1,40} action.*|waiting \d{1,9}ms)$/gm, ''],
  [/\b\d{1,6} × /g, ''],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, '<id>'],
  [
    /\b\d{4}([-/])\d{2}\1\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?/g,
    '<time>',
  ],
  [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?[AP]M)?\b/gi, '<time>'],
  [/\b\d{1,15}(?:\.\d{1,9})?(?: ?(?:ms|milliseconds?|seconds?|secs?|minutes?|mins?)|[smh])\b/g, '<duration>'],
  [
    /((?:\b(?:https?|wss?):\/\/|@)(?:[\w.-]{1,200}|\[[\da-f:]{2,40}\])|\blocalhost|\b\d{1,3}(?:\.\d{1,3}){3}|\[::1?\]|::1):\d{2,5}\b/gi,
    '$1:<port>',
  ],
  [/\bport \d{2,5}\b/gi, 'port <port>'],
  [
    /(?:file:\/\/\/?)?(?<![\p{L}\p{N}_.:/~-])(?:~|[A-Za-z]:)?(?:[\\/][\p{L}\p{M}\p{N}_.@+~$-]{1,100}){1,30}[\\/]([\p{L}\p{M}\p{N}_.@+$-]{1,100})/gu,
    '<path>/$1',
  ],
  [/\b0x[\da-f]{1,16}\b/gi, '<id>'],
  // Thread and process ids: in Rust and Go messages, and before each line of a JVM log.
  [
    /(?<=\bthread '[^'\n]{1,100}' )\(\d{1,15}\) |(?<=\bgoroutine )\d{1,15}\b|\b\d{1,10} --- \[[^\]\n]{1,80}\]/g,
    '<id>',
  ],
  [/\b(?=[\da-f]*\d)(?=[\da-f]*[a-f])[\da-f]{7,128}\b/gi, '<id>'],
  [/\d{6,}/g, '<id>'],
];

/** Only this many characters of a message count. */
const MAX_CHARACTERS = 32_000;

/**
 * Removes the parts of a message that differ between runs of the same failure (ME-1): colors, times, durations, ports, ids, the folders of
 * absolute paths, and the number of retries in a call log.
 */
export function normalize(message: string): string {
  let text = listNonBlankLines(stripAnsi(message.slice(0, MAX_CHARACTERS))).join('\n');
  for (const [pattern, name] of volatileParts) text = text.replace(pattern, name);
  const log = text.search(/^Call log:/m);
  if (log === -1) return listNonBlankLines(text).join('\n');
  // The number of repeated lines in a call log depends on timing.
  const distinct = new Set(listNonBlankLines(text.slice(log)).map((line) => line.replace(/^- /, '')));
  return [...listNonBlankLines(text.slice(0, log)), ...distinct].join('\n');
}

/** Returns the non-blank lines, with whitespace collapsed. */
function listNonBlankLines(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
  return lines.filter((line) => line !== '');
}
