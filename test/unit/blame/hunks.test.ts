import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareFile, without } from '../../../src/blame/hunks.js';

const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '}', ''), { maxLength: 12 }), fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends ? '\n' : ''));

const numbered = (...lines: (string | number)[]) => lines.map((one) => `${one}\n`).join('');

describe('hunks of a file', () => {
  it('BL-1 reverting all gives the old file, reverting none the new one', () => {
    fc.assert(
      fc.property(fc.option(text), fc.option(text), (before, after) => {
        const file = compareFile('a.ts', before, after);
        expect(without(file, new Set(file.hunks))).toBe(before);
        expect(without(file, new Set())).toBe(after);
      }),
    );
  });

  it('BL-1 one can be reverted without the others', () => {
    const before = numbered(1, 2, 3, 4, 5, 6, 7, 8, 9);
    const after = numbered('one', 2, 3, 4, 6, 7, 8, 'new', 9);
    const file = compareFile('a.ts', before, after);
    expect(file.hunks.map(({ newStart, old, now }) => [newStart, old, now])).toEqual([
      [1, ['1\n'], ['one\n']],
      [5, ['5\n'], []],
      [8, [], ['new\n']],
    ]);
    expect(without(file, new Set(file.hunks.slice(1, 2)))).toBe(
      numbered('one', 2, 3, 4, 5, 6, 7, 8, 'new', 9),
    );
    expect(without(file, new Set(file.hunks.filter((_, at) => at !== 1)))).toBe(
      numbered(1, 2, 3, 4, 6, 7, 8, 9),
    );
  });

  it('BL-1 changes with only a brace between them are one, and with a line that says something two', () => {
    const before = numbered(1, '}', 3, 4, 5, 6, 7);
    const file = compareFile('a.ts', before, numbered('one', '}', 'three', 4, 'five', 6, 'seven'));
    expect(file.hunks.map(({ old, now, newStart }) => ({ old, now, newStart }))).toEqual([
      { old: ['1\n', '}\n', '3\n'], now: ['one\n', '}\n', 'three\n'], newStart: 1 },
      { old: ['5\n'], now: ['five\n'], newStart: 5 },
      { old: ['7\n'], now: ['seven\n'], newStart: 7 },
    ]);
    expect(without(file, new Set(file.hunks.slice(0, 1)))).toBe(numbered(1, '}', 3, 4, 'five', 6, 'seven'));
  });

  it('BL-1 an added or binary file is one hunk', () => {
    expect(compareFile('a.ts', null, numbered(1, 2)).hunks).toMatchObject([{ whole: true }]);
    expect(compareFile('a.png', '\0a\nb\nc', '\0x\nb\ny').hunks).toMatchObject([{ whole: true }]);
  });
});
