import { expect, it } from 'vitest';
import { spentOn } from '../../../src/core/spent-on.js';

const usage = { costUsd: 0.5, inputTokens: 100, outputTokens: null, turns: 1, sessionId: null };

it('AG-9 RP-1 adds up what agent programs report; what none reports stays unknown', () => {
  expect(spentOn([{ usage }, { usage: null }, { usage: { ...usage, costUsd: 0.25 } }])).toEqual({
    costUsd: 0.75,
    inputTokens: 200,
    outputTokens: null,
  });
  expect(spentOn([])).toEqual({ costUsd: null, inputTokens: null, outputTokens: null });
});
