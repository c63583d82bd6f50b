import { describe, expect, it } from 'vitest';
import { cleanText } from '../../../src/evidence/clean.js';

describe('cleanText', () => {
  it.each([
    ['colors', '\u001b[31mred\u001b[0m', 'red'],
    ['cursor movements', 'a\u001b[2K\u001b[1Ab', 'ab'],
    ['a terminal link', '\u001b]8;;http://x\u0007here\u001b]8;;\u001b\\', 'here'],
    ['an unfinished sequence', 'a\u001b', 'a'],
    ['the one-character CSI', 'a\u009b31mb', 'ab'],
    ['NUL and other controls', 'a\u0000b\u0008c', 'abc'],
    ['carriage returns', 'a\r\nb\rc', 'a\nb\nc'],
    ['characters that reverse text', 'a\u202eb\u2066c', 'abc'],
    ['invisible characters', `a\u200bb\u{e0041}\u{e0042}`, 'ab'],
    ['half a surrogate pair', 'a\ud800b', 'a\ufffdb'],
    ['tabs and line breaks, which stay', 'a\tb\nc', 'a\tb\nc'],
    ['other scripts, which stay', 'Größe 尺寸 😀', 'Größe 尺寸 😀'],
    ['a secret', 'token=abcdef', 'token=[masked: token]'],
    ['a secret with a color in its name', '"pass\u001b[1mword":"abcdef"', '"password":"[masked: password]"'],
  ])('EV-10 handles %s', (_, text, expected) => {
    expect(cleanText(text)).toBe(expected);
  });
});
