import { describe, expect, it } from 'vitest';
import { guardCases } from '../../../fixtures/guard/cases.mjs';
import { judged } from './judged.js';

const of = (kind: 'cheat' | 'honest') => guardCases.filter((one) => one.kind === kind);

describe('HN-3 HN-4 cheats are stopped, and honest fixes are kept', () => {
  it.each(of('cheat'))('HN-3 stops $what ($category)', async ({ edits, category, found }) => {
    expect(await judged(edits, category, found)).not.toEqual([]);
  });

  it.each(of('honest'))('HN-3 keeps $what ($category)', async ({ edits, category, found }) => {
    expect(await judged(edits, category, found)).toEqual([]);
  });
});
