import { Chalk } from 'chalk';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { cut, laidOut, wrapped, wrappedPainted } from '../../../src/outputs/cut.js';

it.each([
  ['short', 10, 'short'],
  ['exactly 10', 10, 'exactly 10'],
  ['one more than ten', 10, 'one more …'],
  ['日本語の説明', 7, '日本語…'],
  ['日本語の説明', 8, '日本語…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ['👍🏽👍🏽👍🏽', 5, '👍🏽👍🏽…'],
  ['two\nlines', 20, 'two lines'],
  ['anything', 1, '…'],
  ['anything', 0, ''],
])('RP-1 cuts %j to %d columns as %j', (text, width, expected) => {
  expect(cut(text, width)).toBe(expected);
});

it('RP-1 never returns more columns than there are, or terminal control characters', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 0, max: 80 }),
      fc.constantFrom('end', 'middle'),
      (given, width, from) => {
        const line = cut(given, width, { from });
        expect(stringWidth(line)).toBeLessThanOrEqual(width);
        // oxlint-disable-next-line no-control-regex -- matches terminal control characters
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      },
    ),
  );
});

it('RP-1 wraps a sentence without losing a word, and leaves it alone where there is no width', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^\S{1,40}$/u)),
      fc.integer({ min: 20, max: 90 }),
      (words, width) => {
        const lines = wrapped(words.join(' '), width);
        expect(lines.join('').replaceAll(' ', '')).toBe(wrapped(words.join(''), Infinity)[0]);
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
  );
});

it('ME-5 lays out a page for a terminal: its lines keep their margin, a command stays whole, and a pipe gets all as it is', () => {
  const page = [
    'One two three four five',
    '  skip      Skip it: the test is still reported',
    '  1. /database changed no files; the test failed',
    '→ self-heal escalations resolve 5e0b33b0 --choice …',
  ].join('\n');
  expect(laidOut(page, 40).split('\n')).toEqual([
    'One two three four five',
    '  skip      Skip it: the test is still',
    '            reported',
    '  1. /database changed no files; the',
    '  test failed',
    '→ self-heal escalations resolve 5e0b33b0 --choice …',
  ]);
  expect(laidOut(page, undefined)).toBe(page);
});

it('RP-1 wraps wide characters by their columns', () => {
  expect(wrapped('日'.repeat(30), 50)).toEqual(['日'.repeat(25), '日'.repeat(5)]);
});

it('RP-1 keeps the colors of a painted line that it wraps', () => {
  const paint = new Chalk({ level: 1 });
  const line = `${paint.red('failed')}: ${paint.bold('the words that follow it')}`;
  expect(wrappedPainted(line, 80)).toEqual([line]);
  expect(wrappedPainted(line, 22)).toEqual([
    `${paint.red('failed')}: ${paint.bold('the words that')}`,
    paint.bold('follow it'),
  ]);
  expect(wrappedPainted('a\u001b[2Jb\nc', 80)).toEqual(['ab c']);
});

it('RP-1 cuts a line of five million characters', () => {
  expect(stringWidth(cut('日'.repeat(5_000_000), 40))).toBe(39);
});
