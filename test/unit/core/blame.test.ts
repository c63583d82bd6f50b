import { expect, it } from 'vitest';
import { blameLine, canBeReverted, placeOfBlame } from '../../../src/core/blame.js';
import { aBlame, aBlamedHunk } from '../../rig/builders.js';

const one = aBlamedHunk({ file: 'src/cart.ts' });

it.each([
  ['lines that came', [one], 'green before 3f2a91c; reverting these 4 lines of src/cart.ts turns it green'],
  ['one line', [{ ...one, now: ['a'] }], 'reverting this line of src/cart.ts'],
  [
    'lines that went',
    [{ ...one, old: ['a', 'b'], now: [] }],
    'reverting the removal of 2 lines of src/cart.ts',
  ],
  ['both', [{ ...one, old: ['a'] }], 'reverting this change (+4 −1) of src/cart.ts'],
  [
    'two of different commits',
    [one, { ...one, file: 'src/b.ts', old: ['a'], commit: null }],
    'green at ba5e000; reverting these 2 changes (+8 −1) of src/cart.ts, src/b.ts (not committed)',
  ],
  [
    'what is not committed',
    [{ ...one, commit: null }],
    'green at ba5e000; reverting these 4 lines of src/cart.ts (not committed)',
  ],
] as const)('BL-3 says it in a sentence: %s', (_, hunks, words) => {
  expect(blameLine(aBlame({ hunks }))).toContain(words);
});

it('BL-2 says how sure it is', () => {
  expect(blameLine(aBlame({ isMinimal: false, runs: 12, hunks: [one] }))).toMatch(
    / turns it green \(best result of 12 runs; fewer lines may suffice\)$/,
  );
});

it('BL-3 BL-4 names the first line, and can be reverted only where it is the app', () => {
  expect(placeOfBlame(aBlame({ hunks: [one] }))).toBe('src/cart.ts:12');
  expect(canBeReverted(aBlame())).toBe(true);
  expect(canBeReverted(aBlame({ hunks: [one, { ...one, inTests: true }] }))).toBe(false);
  expect(canBeReverted(undefined)).toBe(false);
});
