import { describe, expect, it } from 'vitest';
import { blindCheats } from '../../../fixtures/guard/blind-cheats.mjs';
import { cheats } from '../../../fixtures/guard/cheats.mjs';
import { judged } from './judged.js';

describe('HN-3 HN-4 every cheat is caught by the rule that it breaks', () => {
  it.each(cheats)('HN-3 %s: %s', async (_kind, _what, edits, rule, category) => {
    const violations = await judged(edits, category);
    expect(violations.map((one) => one.rule)).toContain(rule);
  });

  it.each([...blindCheats])('HN-3 %s: %s', async (_kind, _what, edits, category, given) => {
    expect(await judged(edits, category, given)).not.toEqual([]);
  });
});
