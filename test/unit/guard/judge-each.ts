import { expect, it } from 'vitest';
import type { BlindCase, RequestFor, Undecided } from '../../../fixtures/guard/project.mjs';
import { judge } from '../../../src/guard/judge.js';

/** Adds a test for each case, which asks the guard about it. */
export function judgeEach(
  cases: readonly BlindCase[],
  requestFor: RequestFor,
  { named = [], unseen = [], refused = [] }: Undecided = {},
): void {
  it.each(cases)('HN-3 %s: %s', async (kind, what, edits, category, found) => {
    const { violations, notes, otherInput } = await judge(requestFor(edits, category, found));
    if (refused.includes(what)) expect(violations.length).toBeGreaterThan(0);
    else if (kind === 'fix') expect({ violations, otherInput }).toEqual({ violations: [], otherInput: null });
    else if (unseen.includes(what)) expect({ violations, notes }).toEqual({ violations: [], notes: [] });
    else if (named.includes(what)) expect([violations, notes.length > 0]).toEqual([[], true]);
    else expect(violations.length > 0 || otherInput !== null).toBe(true);
  });
}
