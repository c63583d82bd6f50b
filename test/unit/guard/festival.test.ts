import { describe, expect, it } from 'vitest';
import { festival, festivalRequest, festivalUndecided } from '../../../fixtures/guard/festival.mjs';
import { judge } from '../../../src/guard/judge.js';

describe('HN-3 HN-4 a ticket shop with Next.js, Hono, Drizzle and webpack', () => {
  const decided = festival.filter(([, what]) => !festivalUndecided.includes(what));

  it.each(decided)('HN-3 %s: %s', async (kind, _what, edits, category, found) => {
    const { violations, otherInput } = await judge(festivalRequest(edits, category, found));
    if (kind === 'fix') expect({ violations, otherInput }).toEqual({ violations: [], otherInput: null });
    else expect(violations.length > 0 || otherInput !== null).toBe(true);
  });
});
