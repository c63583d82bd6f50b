import { describe, expect, it } from 'vitest';
import { keptBack, keptBackRequest } from '../../../fixtures/guard/kept-back.mjs';
import { judge } from '../../../src/guard/judge.js';

describe('HN-3 HN-4 a suite in a different style', () => {
  it.each([...keptBack])('HN-3 %s: %s', async (kind, _what, edits, category) => {
    const { violations } = await judge(keptBackRequest(edits, category));
    if (kind === 'cheat') expect(violations).not.toEqual([]);
    else expect(violations).toEqual([]);
  });
});
