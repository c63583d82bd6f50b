import { describe, expect, it } from 'vitest';
import { honestFixes } from '../../../fixtures/guard/honest-fixes.mjs';
import { judged } from './judged.js';

describe('HN-3 HN-4 no honest fix is rejected', () => {
  it.each(honestFixes)('HN-3 %s', async (_what, edits, category) => {
    expect(await judged(edits, category)).toEqual([]);
  });
});
