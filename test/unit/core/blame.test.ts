import { expect, it } from 'vitest';
import { blameLine, canBeReverted, placeOfBlame } from '../../../src/core/blame.js';
import { aBlame, aBlamedHunk } from '../../rig/builders.js';

const one = aBlamedHunk({ file: 'src/cart.ts' });

it.each([
  ['added lines', [one], 'green before 3f2a91c; reverting these 4 lines of src/cart.ts turns it green'],
  ['one added line', [{ ...one, now: ['a'] }], 'reverting this line of src/cart.ts'],
  [
    'removed lines',
    [{ ...one, old: ['a', 'b'], now: [] }],
    'reverting the removal of 2 lines of src/cart.ts',
  ],
  ['added and removed lines', [{ ...one, old: ['a'] }], 'reverting this change (+4 −1) of src/cart.ts'],
  [
    'two changes of different commits',
    [one, { ...one, file: 'src/b.ts', old: ['a'], commit: null }],
    'green at ba5e000; reverting these 2 changes (+8 −1) of src/cart.ts, src/b.ts (not committed)',
  ],
  [
    'uncommitted lines',
    [{ ...one, commit: null }],
    'green at ba5e000; reverting these 4 lines of src/cart.ts (not committed)',
  ],
] as const)('BL-3 describes the blamed change in a sentence: %s', (_, hunks, words) => {
  expect(blameLine(aBlame({ hunks }))).toContain(words);
});

it('BL-2 says if fewer lines may suffice', () => {
  expect(blameLine(aBlame({ isMinimal: false, runs: 12, hunks: [one] }))).toMatch(
    / turns it green \(best result of 12 runs; fewer lines may suffice\)$/,
  );
});

it('BL-3 BL-4 gives the place of the first line, and allows a revert only if the whole change is in the app', () => {
  expect(placeOfBlame(aBlame({ hunks: [one] }))).toBe('src/cart.ts:12');
  expect(canBeReverted(aBlame())).toBe(true);
  expect(canBeReverted(aBlame({ hunks: [one, { ...one, inTests: true }] }))).toBe(false);
  expect(canBeReverted(undefined)).toBe(false);
});
