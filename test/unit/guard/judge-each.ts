import { expect, it } from 'vitest';
import type { BlindCase, RequestFor } from '../../../fixtures/guard/project.mjs';
import { judge } from '../../../src/guard/judge.js';

/** Asks the guard about each case of a set; what is left to the reviewer is not asked. */
export function judgeEach(
  cases: readonly BlindCase[],
  requestFor: RequestFor,
  undecided: readonly string[],
): void {
  const decided = cases.filter(([, what]) => !undecided.includes(what));

  it.each(decided)('HN-3 %s: %s', async (kind, _what, edits, category, found) => {
    const { violations, otherInput } = await judge(requestFor(edits, category, found));
    if (kind === 'fix') expect({ violations, otherInput }).toEqual({ violations: [], otherInput: null });
    else expect(violations.length > 0 || otherInput !== null).toBe(true);
  });
}
