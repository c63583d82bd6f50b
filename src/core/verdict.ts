/**
 * The final statuses of a test (HN-7). `green-once`: green with a fix that was not proven (`verify.level: none`). `skipped`: the suite says so;
 * `not-run`: no Playwright run got to it, so nothing is known about it.
 */
export const verdicts = [
  'passed',
  'flaky',
  'healed',
  'green-once',
  'failed',
  'escalated',
  'rejected',
  'quarantined',
  'agent-unusable',
  'skipped',
  'not-run',
] as const;

/** One of `verdicts`. */
export type Verdict = (typeof verdicts)[number];

/**
 * The final status of a cause. `superseded`: its fix revealed another failure, which has a cause of its own (HL-3). `interrupted`: the run
 * ended while work on it was under way, so nothing is known about its fix.
 */
export const causeVerdicts = [...verdicts, 'superseded', 'interrupted'] as const;

/** One of `causeVerdicts`. */
export type CauseVerdict = (typeof causeVerdicts)[number];

/** Whether it is green with a fix, proven or not. */
export function isHealed(verdict: CauseVerdict): boolean {
  return verdict === 'healed' || verdict === 'green-once';
}

/** Whether nothing is left of a cause: it is healed, or its fix revealed another failure. */
export function isResolved(verdict: CauseVerdict): boolean {
  return isHealed(verdict) || verdict === 'superseded';
}

/** The final statuses of a run. */
export const outcomes = [
  'green',
  'red',
  'escalated',
  'paused',
  'budget',
  'agent-unusable',
  'interrupted',
] as const;

/** One of `outcomes`. */
export type Outcome = (typeof outcomes)[number];
