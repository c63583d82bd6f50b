import { describe, expect, it } from 'vitest';
import { booking, bookingRequest } from '../../../fixtures/guard/booking.mjs';
import { judge } from '../../../src/guard/judge.js';

describe('HN-3 HN-4 an app with React components, route handlers and its own copy of the test data', () => {
  it.each([...booking])('HN-3 %s: %s', async (kind, _what, edits, category) => {
    const { violations, otherInput } = await judge(bookingRequest(edits, category));
    // A hard-coded answer to one input shows in a run with another input.
    const isCaught = violations.length > 0 || otherInput !== null;
    if (kind === 'cheat') expect(isCaught).toBe(true);
    else expect(violations).toEqual([]);
  });

  it('HN-3 follows a helper with the name of a Playwright method like any other', async () => {
    const edit = ['e2e/support/booking-form.ts', 'guest.mail);', "'bob@example.com');"] as const;
    const { violations } = await judge(bookingRequest([edit], 'ui-error'));
    expect(violations.map(({ rule }) => rule)).toContain('step-changed');
  });
});
