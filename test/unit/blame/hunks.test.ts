import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareFile, joinNear, without } from '../../../src/blame/hunks.js';
import { lastSteps, type Version } from '../../../src/blame/origins.js';

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

  it('BL-1 BL-3 changes of one commit with a line between them are one hunk, which can be reverted', () => {
    const before = numbered(1, 2, 3, 4, 5, 6, 7);
    const after = numbered('one', 2, 'three', 4, 'five', 6, 7);
    const file = compareFile('a.ts', before, after);
    expect(file.hunks).toHaveLength(3);
    const steps = joinNear(file, new Map(file.hunks.map((one, at) => [one, Math.min(at, 1)])));
    expect([...steps].map(([{ old, now, newStart }, step]) => ({ old, now, newStart, step }))).toEqual([
      { old: ['1\n'], now: ['one\n'], newStart: 1, step: 0 },
      { old: ['3\n', '4\n', '5\n'], now: ['three\n', '4\n', 'five\n'], newStart: 3, step: 1 },
    ]);
    const joined = { ...file, hunks: [...steps.keys()] };
    expect(without(joined, new Set(joined.hunks.slice(1)))).toBe(numbered('one', 2, 3, 4, 5, 6, 7));
  });

  it('BL-1 an added or binary file is one hunk', () => {
    expect(compareFile('a.ts', null, numbered(1, 2)).hunks).toMatchObject([{ whole: true }]);
    expect(compareFile('a.png', '\0a\nb\nc', '\0x\nb\ny').hunks).toMatchObject([{ whole: true }]);
  });
});

const linearHistory = (count: number) => Array.from({ length: count }, (_, at) => [at - 1]);

function stepsFor(file: ReturnType<typeof compareFile>, ...rest: [Version[], number[][]]) {
  const steps = lastSteps(file, ...rest);
  return file.hunks.map((one) => steps.get(one));
}

describe('the commit of a hunk', () => {
  it('BL-3 is the last one that touched it, for added and for removed lines', () => {
    const base = numbered(1, 2, 3, 4, 5, 6, 7, 8, 9);
    const first = numbered(1, 'two', 3, 4, 5, 6, 7, 8, 9);
    const second = numbered(1, 'two', 3, 4, 6, 7, 8, 9);
    const now = numbered(1, 'two', 3, 4, 6, 7, 8, 9, 'ten');
    const file = compareFile('a.ts', base, now);
    const versions = [
      { step: 0, text: first },
      { step: 3, text: second },
      { step: 7, text: now },
    ];
    expect(stepsFor(file, versions, linearHistory(8))).toEqual([0, 3, 7]);
  });

  it('BL-3 is the last one that made the change, if it was undone in between', () => {
    const base = numbered(1, 2, 3);
    const changed = numbered(1, 'two', 3);
    const file = compareFile('a.ts', base, changed);
    const versions = [
      { step: 0, text: changed },
      { step: 1, text: base },
      { step: 2, text: changed },
    ];
    expect(stepsFor(file, versions, linearHistory(3))).toEqual([2]);
  });

  it('BL-3 is the one on either side of a merge, or the merge itself for lines that only it changes', () => {
    const base = numbered(1, 2, 3, 4, 5, 6, 7, 8, 9);
    const mine = numbered('one', 2, 3, 4, 5, 6, 7, 8, 9);
    const theirs = numbered(1, 2, 3, 4, 5, 7, 8, 'eight', 9);
    const now = numbered('one', 2, 3, 'four', 5, 7, 8, 'eight', 9);
    const versions = [
      { step: 0, text: mine },
      { step: 1, text: theirs },
      { step: 3, text: now },
    ];
    const parents = [[-1], [-1], [1], [0, 2]];
    expect(stepsFor(compareFile('a.ts', base, now), versions, parents)).toEqual([0, 3, 1, 1]);
  });

  it('BL-3 is the later one if a merge brought a removed line back', () => {
    const [base, now] = [numbered(1, 2, 3), numbered(1, 3)];
    const versions = [
      { step: 0, text: now },
      { step: 1, text: base },
      { step: 2, text: now },
    ];
    expect(stepsFor(compareFile('a.ts', base, now), versions, [[-1], [0, -1], [1]])).toEqual([2]);
  });
});
