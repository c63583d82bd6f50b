import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { logText, visibleText } from '../../src/visible-text.js';

describe('visibleText', () => {
  it.each([
    ['a terminal link', '\u001b]8;;http://evil.test\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['a window title', 'a\u001b]0;root@host\u0007b', 'ab'],
    ['a device control string', 'a\u001bP+q544e\u001b\\b', 'ab'],
    ['one-character control sequences', 'a\u009b31mb\u009d0;title\u009cc', 'abc'],
    ['an unterminated string, up to the end of its line', 'a\u001b]0;title\nb', 'a\nb'],
    ['overrides and isolates of the text direction', 'a\u202eb\u2066c\u2069\u061cd', 'abcd'],
    ['tags, which can hide instructions', `a${String.fromCodePoint(0xe0049, 0xe0067)}b`, 'ab'],
    ['variation selectors, which can hide bytes', `a${String.fromCodePoint(0xe0100, 0xe01ef)}b`, 'ab'],
    ['fillers and soft hyphens', 'a\u3164b\u00adc\u115fd', 'abcd'],
    ['other line endings', 'a\u2028b\u2029c\rd', 'a\nb\nc\nd'],
    ['the variation selectors of emoji', '❤\ufe0f a\ufe00b\u180bc', '❤ abc'],
    ['other scripts and emoji, which stay', 'Größe 尺寸 مرحبا 😀 ❤', 'Größe 尺寸 مرحبا 😀 ❤'],
  ])('EV-10 handles %s', (_, text, expected) => {
    expect(visibleText(text)).toBe(expected);
  });

  it.each([
    ['a::error::b', 'a::error::b'],
    ['x\n  ::set-output name=a::b', 'x\n  : :set-output name=a::b'],
    ['a ##[set-output name=x]y ##vso[task.x]', 'a # #[set-output name=x]y # #vso[task.x]'],
    ['a\u001b[2Jb', 'ab'],
  ])('PB-5 no log executes %j', (text, expected) => {
    expect(logText(text)).toBe(expected);
    expect(logText(expected)).toBe(expected);
  });

  it('EV-10 leaves no text that controls a terminal or hides text; a second pass changes nothing', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u001b', '[', ']', '\u009b', '\u0007', '31m', '\\', '\u202e', '\u{e0041}'),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const visible = visibleText(pieces.join(''));
        // oxlint-disable-next-line no-control-regex -- the test asserts that there is none
        expect(visible).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        expect(visible).not.toMatch(/\p{Default_Ignorable_Code_Point}|\p{Cf}|\p{Variation_Selector}/u);
        expect(visibleText(visible)).toBe(visible);
      }),
    );
  });
});
