import type { Judgement } from '../../core/attempt.js';

/** What the re-runs said of an attempt, in words; a reason may follow. */
export const judgementWords: Record<Judgement, string> = {
  green: 'The test is green',
  'still-failing': 'The test still fails in the same way',
  changed: 'The test fails in another way',
  flaky: 'Green, but not by what was changed',
  vanished: 'The test was no longer there to run',
  rejected: 'Rejected: it weakened the tests',
  conflict: 'Not applied: the same lines changed meanwhile',
  'not-judged': 'Not judged',
};
