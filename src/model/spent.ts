/** A run's costs so far. */
export interface RunCosts {
  /** Agents started in the whole run. */
  readonly agentRuns: number;
  /** The highest number of agents started for any one test of this cause, over all causes of that test (HL-3). */
  readonly agentRunsOnTest: number;
  readonly costUsd: number;
  readonly elapsedMs: number;
  /** The costs of the project's other runs in the 24 hours before this one. */
  readonly lastDay: DayCosts;
}

/** The costs of runs in 24 hours. */
export interface DayCosts {
  readonly agentRuns: number;
  readonly costUsd: number;
}
