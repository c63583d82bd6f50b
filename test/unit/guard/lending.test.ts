import { describe, expect, it } from 'vitest';
import { lending, lendingRequest, lendingUndecided } from '../../../fixtures/guard/lending.mjs';
import { judge } from '../../../src/guard/judge.js';

describe('HN-3 HN-4 a library with a Vue catalogue, a Svelte kiosk and an API', () => {
  const decided = lending.filter(([, what]) => !lendingUndecided.includes(what));

  it.each(decided)('HN-3 %s: %s', async (kind, _what, edits, category, found) => {
    const { violations, otherInput } = await judge(lendingRequest(edits, category, found));
    if (kind === 'fix') expect({ violations, otherInput }).toEqual({ violations: [], otherInput: null });
    else expect(violations.length > 0 || otherInput !== null).toBe(true);
  });
});
