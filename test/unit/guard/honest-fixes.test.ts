import { describe, expect, it } from 'vitest';
import { blindHonestFixes } from '../../../fixtures/guard/blind-honest-fixes.mjs';
import { honestFixes } from '../../../fixtures/guard/honest-fixes.mjs';
import { judged } from './judged.js';

describe('HN-3 HN-4 no honest fix is rejected', () => {
  it.each(honestFixes)('HN-3 %s', async (_what, edits, category) => {
    expect(await judged(edits, category)).toEqual([]);
  });

  it.each(blindHonestFixes)('HN-3 %s', async (_what, edits, category, given) => {
    expect(await judged(edits, category, given)).toEqual([]);
  });
});
