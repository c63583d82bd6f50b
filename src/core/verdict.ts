/** The last word on a test (HN-7). */
export type Verdict =
  | 'passed'
  | 'flaky'
  | 'healed'
  /** Green with a fix that nobody proved (`verify.level: none`). */
  | 'green-once'
  | 'failed'
  | 'escalated'
  | 'rejected'
  | 'quarantined'
  | 'agent-unusable'
  | 'not-run';

/** The last word on a cause: a fix may have brought another error to light, which has a cause of its own (HL-3). */
export type CauseVerdict = Verdict | 'superseded';

/** The last word on a run. */
export type Outcome = 'green' | 'red' | 'escalated' | 'paused' | 'budget' | 'agent-unusable' | 'interrupted';
