import { describe, expect, it } from 'vitest';
import { clinic, clinicRequest, clinicUndecided } from '../../../fixtures/guard/clinic.mjs';
import { judge } from '../../../src/guard/judge.js';

describe('HN-3 HN-4 a clinic in CommonJS whose tests require a package of the workspace', () => {
  const decided = clinic.filter(([, what]) => !clinicUndecided.includes(what));

  it.each(decided)('HN-3 %s: %s', async (kind, _what, edits, category, found) => {
    const { violations, otherInput } = await judge(clinicRequest(edits, category, found));
    if (kind === 'fix') expect({ violations, otherInput }).toEqual({ violations: [], otherInput: null });
    else expect(violations.length > 0 || otherInput !== null).toBe(true);
  });
});
