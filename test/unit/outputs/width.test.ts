import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { widthOf } from '../../../src/outputs/cut.js';

it('RP-1 counts the same columns as string-width', () => {
  const characters = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
  expect(characters.filter((one) => widthOf(one) !== stringWidth(one))).toEqual([]);
  for (const text of ['e\u0301', '✔️', 'नमस्ते', '日本…', '👍🏽›'])
    expect([text, widthOf(text)]).toEqual([text, stringWidth(text)]);
});
