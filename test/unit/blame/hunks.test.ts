import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareFile, without } from '../../../src/blame/hunks.js';
import { lastSteps } from '../../../src/blame/origins.js';

const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '}', ''), { maxLength: 12 }), fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends ? '\n' : ''));

const numbered = (...lines: (string | number)[]) => lines.map((one) => `${one}\n`).join('');

describe('hunks of a file', () => {
  it('BL-1 all taken out is the old state, none is the new one', () => {
    fc.assert(
      fc.property(fc.option(text), fc.option(text), (before, after) => {
        const file = compareFile('a.ts', before, after);
        expect(without(file, new Set(file.hunks))).toBe(before);
        expect(without(file, new Set())).toBe(after);
      }),
    );
  });

  it('BL-1 one is taken out without the others', () => {
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

  it('BL-1 a file that came or is binary is one hunk', () => {
    expect(compareFile('a.ts', null, numbered(1, 2)).hunks).toMatchObject([{ whole: true }]);
    expect(compareFile('a.png', '\0a\nb\nc', '\0x\nb\ny').hunks).toMatchObject([{ whole: true }]);
  });
});

describe('the commit of a hunk', () => {
  it('BL-3 is the last one that touched it, where lines came and where they went', () => {
    const base = numbered(1, 2, 3, 4, 5, 6, 7, 8, 9);
    const first = numbered(1, 'two', 3, 4, 5, 6, 7, 8, 9);
    const second = numbered(1, 'two', 3, 4, 6, 7, 8, 9);
    const now = numbered(1, 'two', 3, 4, 6, 7, 8, 9, 'ten');
    const file = compareFile('a.ts', base, now);
    const steps = lastSteps(file, [
      { step: 0, text: first },
      { step: 3, text: second },
      { step: 7, text: now },
    ]);
    expect(file.hunks.map((one) => steps.get(one))).toEqual([0, 3, 7]);
  });

  it('BL-3 is that of the merge, where a change came, went and came again', () => {
    const base = numbered(1, 2, 3);
    const changed = numbered(1, 'two', 3);
    const file = compareFile('a.ts', base, changed);
    const steps = lastSteps(file, [
      { step: 0, text: changed },
      { step: 1, text: base },
      { step: 2, text: changed },
    ]);
    expect(file.hunks.map((one) => steps.get(one))).toEqual([2]);
  });
});
