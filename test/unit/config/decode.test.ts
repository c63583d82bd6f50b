import { describe, expect, it } from 'vitest';
import { encodingMistake } from '../../../src/config/load-settings.js';

describe('CF-3 bytes', () => {
  it.each([
    ['plain', Buffer.from('runner: é漢👍\n')],
    ['with a byte order mark', Buffer.from('\uFEFFrunner: claude')],
    ['with a replacement character in the text', Buffer.from('x: \uFFFD')],
    ['empty', Buffer.alloc(0)],
  ])('CF-3 accepts UTF-8: %s', (_, bytes) => {
    expect(encodingMistake(bytes)).toBeNull();
  });

  it.each([
    ['Latin-1', Buffer.concat([Buffer.from('漢\nx: '), Buffer.from([0xe9]), Buffer.from('y')]), 5],
    ['after a byte order mark', Buffer.concat([Buffer.from('\uFEFFab'), Buffer.from([0xff])]), 2],
    ['a sequence cut off at the end', Buffer.from('漢字').subarray(0, 5), 1],
  ])('CF-3 finds the first byte that is not UTF-8: %s', (_, bytes, start) => {
    const message = 'this is not UTF-8; save the file as UTF-8';
    expect(encodingMistake(bytes)).toEqual({ start, end: start + 1, message });
  });

  it('CF-3 recognizes UTF-16, which some shells write', () => {
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('runner: claude\n', 'utf16le')]);
    const message = 'this is not UTF-8 (it looks like UTF-16); save the file as UTF-8';
    expect(encodingMistake(bytes)).toEqual({ start: 0, end: 1, message });
  });
});
