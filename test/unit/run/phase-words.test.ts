import { expect, it } from 'vitest';
import { describeSuiteRun } from '../../../src/run/phase-words.js';

it('RP-1 says how many other tests run with the red ones, and why', () => {
  const text = describeSuiteRun({
    type: 'suite.started',
    time: 0,
    tests: 6,
    red: 2,
    purpose: 'retest',
    causeId: 'c1',
  });
  expect(text).toBe('running 2 red tests and 4 others again, to see what is green now');
});
