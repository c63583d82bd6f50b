import { describe, expect, it } from 'vitest';
import { renderCode, escapeProse } from '../../../src/outputs/markdown.js';

/** What GitHub and GitLab turn into references and links, searched in the text that a reader sees (their documentation of autolinked references). */
const references = [
  /(?<![\w/])(?:[\w-]+(?:\/[\w.-]+)?)?#\d+/,
  /\bGH-\d+/i,
  /\$\d+/,
  /(?<!\w)[\w./-]*[!&%~^](?:\d+|"[^"]+"|\w+)/,
  /\b[A-Z][A-Z\d_]+-\d+/,
  /(?<!\w)@[\w-]+/,
  /\b(?:https?|ftp):\/\/\S+/,
  /\bwww\.\S+/,
  /[\w.+-]+@[\w-]+\.\w+/,
  /\S@[\da-f]{7,64}\b/,
];

/** GitHub's keywords, and GitLab's default `issue_closing_pattern`, which is searched in the source text. */
const closes =
  /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):?[ \t\n]+(?:issues? +)?(?:[\w./-]*[#!]\d|GH-\d|https?:\/\/\S+\/issues\/\d|[A-Z][A-Z\d_]+-\d)/i;

/** The stretches of text that a forge searches: what is escaped stands for itself, and a comment ends a stretch. */
const searched = (markdown: string) => markdown.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1').split('<!-- -->');

describe('text from others', () => {
  it.each([
    'Fixes GH-13',
    'closes #14',
    'Closes: own/other#5',
    'resolved https://github.com/own/shop/issues/14',
    'Implements SHOP-12',
    'fixing issue #4',
    String.raw`\#12`,
    'own/other#5',
    'group/project!7 and group/project&3',
    'see %12, ~bug, ~"needs help", $9 and ^alert#3',
    'https://evil.test/a?b=c and ftp://evil.test/x',
    'www.evil.test',
    '@ann and ann@shop.test',
    'own/shop@4f2d9c1b7e, see $12',
  ])('PB-5 creates no reference or link, and closes no issue: %s', (text) => {
    const shown = escapeProse(text);
    for (const part of searched(shown)) for (const pattern of references) expect(part).not.toMatch(pattern);
    for (const source of [shown, searched(shown).join(''), renderCode(text)])
      expect(source).not.toMatch(closes);
    expect(searched(shown).join('').replaceAll('\u00a0', ' ')).toBe(text);
  });

  it.each(['a test of 3 steps', 'expected "1 item" at src/shop.ts:12', 'the fix is in order.ts'])(
    'PB-5 stays as it is if it contains no reference: %s',
    (text) => expect(escapeProse(text)).toBe(text),
  );
});
