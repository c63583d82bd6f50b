/** What had been spent before the decision. */
export interface Spent {
  /** Agents started in the whole run. */
  readonly agentRuns: number;
  /** The highest number of agents started for any one test of this cause, over all causes of that test (HL-3). */
  readonly agentRunsOnTest: number;
  readonly costUsd: number;
  readonly elapsedMs: number;
  /** What other runs of the project have spent in the 24 hours before this one. */
  readonly lastDay: DaySpent;
}

/** What runs have spent in 24 hours. */
export interface DaySpent {
  readonly agentRuns: number;
  readonly costUsd: number;
}
