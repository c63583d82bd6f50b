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

  it('BL-1 changes with a single line between them are one', () => {
    const before = numbered(1, 2, 3, 4, 5, 6, 7);
    const file = compareFile('a.ts', before, numbered('one', 2, 'three', 4, 5, 'six', 7));
    expect(file.hunks.map(({ old, now, newStart }) => ({ old, now, newStart }))).toEqual([
      { old: ['1\n', '2\n', '3\n'], now: ['one\n', '2\n', 'three\n'], newStart: 1 },
      { old: ['6\n'], now: ['six\n'], newStart: 6 },
    ]);
    expect(without(file, new Set(file.hunks.slice(0, 1)))).toBe(numbered(1, 2, 3, 4, 5, 'six', 7));
  });

  it('BL-1 an added or binary file is one hunk', () => {
    expect(compareFile('a.ts', null, numbered(1, 2)).hunks).toMatchObject([{ whole: true }]);
    expect(compareFile('a.png', '\0a\nb\nc', '\0x\nb\ny').hunks).toMatchObject([{ whole: true }]);
  });
});
