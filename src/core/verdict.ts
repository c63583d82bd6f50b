/** The last word on a test (HN-7). */
export type Verdict =
  | 'passed'
  | 'flaky'
  | 'healed'
  | 'failed'
  | 'escalated'
  | 'rejected'
  | 'quarantined'
  | 'agent-unusable'
  | 'not-run';

/** The last word on a run. */
export type Outcome = 'green' | 'red' | 'escalated' | 'paused' | 'budget' | 'agent-unusable' | 'interrupted';
