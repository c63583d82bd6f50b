import { describe, expect, it } from 'vitest';
import { courier, courierRequest, courierUndecided } from '../../../fixtures/guard/courier.mjs';
import { judge } from '../../../src/guard/judge.js';

describe('HN-3 HN-4 a parcel service with SvelteKit, Express and Prisma', () => {
  const decided = courier.filter(([, what]) => !courierUndecided.includes(what));

  it.each(decided)('HN-3 %s: %s', async (kind, _what, edits, category, found) => {
    const { violations, otherInput } = await judge(courierRequest(edits, category, found));
    if (kind === 'fix') expect({ violations, otherInput }).toEqual({ violations: [], otherInput: null });
    else expect(violations.length > 0 || otherInput !== null).toBe(true);
  });
});
