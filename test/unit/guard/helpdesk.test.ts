import { describe, expect, it } from 'vitest';
import { helpdesk, helpdeskRequest, helpdeskUndecided } from '../../../fixtures/guard/helpdesk.mjs';
import { judge } from '../../../src/guard/judge.js';

describe('HN-3 HN-4 a help desk with page objects, a set-up project, API, component and picture tests', () => {
  const decided = helpdesk.filter(([, what]) => !helpdeskUndecided.includes(what));

  it.each(decided)('HN-3 %s: %s', async (kind, _what, edits, category, found) => {
    const { violations, otherInput } = await judge(helpdeskRequest(edits, category, found));
    if (kind === 'fix') expect({ violations, otherInput }).toEqual({ violations: [], otherInput: null });
    else expect(violations.length > 0 || otherInput !== null).toBe(true);
  });
});
