import type { Cause } from '../model/cause.js';
import { failureKey } from '../model/failure.js';
import type { DayCosts, RunCosts } from '../model/spent.js';
import type { LimitSettings } from '../model/settings.js';

/** Tracks the costs of a run, and derives `RunCosts` for decisions. */
export interface Spending {
  /** Counts an agent as started, and as working until the caller disposes of the returned object. */
  countAgentStart(cause: Cause): AgentAtWork;
  /** Counts a restart of an agent for the run only, because its reason is unrelated to the tests (AG-7). */
  countAgentRestart(): void;
  /** Returns the number of the next attempt within the run, from 1, which names its files and its change. */
  nextAttemptNumber(): number;
  /**
   * True if one more agent may be started within these limits. Assumes that each working agent costs as much as the
   * most expensive one so far, because its real cost is known only at its end.
   */
  mayStartAgent(limits: Pick<LimitSettings, 'costUsd'>): boolean;
  /** Resolves when the next agent at work has ended. */
  waitForNextEnd(): Promise<void>;
  getSpent(cause: Cause, now: number): RunCosts;
  getTotals(): { agentRuns: number; costUsd: number | null };
}

/** An agent that has been started. */
export interface AgentAtWork extends Disposable {
  /** Records its cost in US dollars; null if its program does not report it. */
  addCost(usd: number | null): void;
}

/** Starts tracking at `startedAt`, in milliseconds since the epoch. */
export function createSpending(
  startedAt: number,
  lastDay: DayCosts = { agentRuns: 0, costUsd: 0 },
): Spending {
  const byTest = new Map<string, number>();
  let agentRuns = 0;
  let attempts = 0;
  let costUsd: number | null = null;
  let [running, highestCost] = [0, 0];
  const wakeCallbacks: (() => void)[] = [];
  return {
    countAgentStart: (cause) => {
      agentRuns += 1;
      running += 1;
      for (const key of listFailureKeys(cause)) byTest.set(key, (byTest.get(key) ?? 0) + 1);
      return {
        addCost: (usd) => {
          if (usd === null) return;
          costUsd = (costUsd ?? 0) + usd;
          highestCost = Math.max(highestCost, usd);
        },
        [Symbol.dispose]: () => {
          running -= 1;
          for (const wake of wakeCallbacks.splice(0)) wake();
        },
      };
    },
    mayStartAgent: (limits) => running === 0 || (costUsd ?? 0) + running * highestCost < limits.costUsd,
    waitForNextEnd: () => new Promise((resolve) => void wakeCallbacks.push(resolve)),
    countAgentRestart: () => {
      agentRuns += 1;
    },
    nextAttemptNumber: () => (attempts += 1),
    getSpent: (cause, now) => ({
      agentRuns,
      agentRunsOnTest: Math.max(0, ...listFailureKeys(cause).map((key) => byTest.get(key) ?? 0)),
      costUsd: costUsd ?? 0,
      elapsedMs: now - startedAt,
      lastDay,
    }),
    getTotals: () => ({ agentRuns, costUsd }),
  };
}

function listFailureKeys(cause: Cause): string[] {
  return cause.members.map((member) => failureKey(member.failure));
}
