import type { Cause } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import type { Spent } from '../core/policy.js';
import type { LimitSettings } from '../core/settings.js';

/** Keeps what a run has spent; `Spent` for a decision is read from it. */
export interface Spending {
  /** It is at work until it is disposed of. */
  agentStarted(cause: Cause): AgentAtWork;
  /** The same agent once more, for a reason that is no test's fault (AG-7): it counts for the run alone. */
  agentRestarted(): void | Promise<void>;
  /** The number of an attempt within the run, from 1: names its files and its change, in the order in which they were made. */
  nextAttempt(): number;
  /**
   * Whether one more agent can be started within these limits; it is then taken to be. Those at work cost as much as the dearest so far, since
   * what they cost is known when they end.
   */
  mayStart(limits: Pick<LimitSettings, 'agentRuns' | 'costUsd'>): Promise<boolean>;
  /** Resolves when the next of those at work has ended. */
  nextEnd(): Promise<void>;
  spentFor(cause: Cause, now: number): Spent;
  totals(): { agentRuns: number; costUsd: number | null };
}

/** An agent that has been started. */
export interface AgentAtWork extends Disposable {
  /** What it cost, in US dollars; null where its program does not say. */
  cost(usd: number | null): void | Promise<void>;
}

/** Starts counting at `startedAt`, in milliseconds since the epoch. */
export function createSpending(startedAt: number): Spending {
  const byTest = new Map<string, number>();
  let agentRuns = 0;
  let attempts = 0;
  let costUsd: number | null = null;
  let [atWork, dearest] = [0, 0];
  const waiting: (() => void)[] = [];
  return {
    agentStarted: (cause) => {
      agentRuns += 1;
      atWork += 1;
      for (const key of keysOf(cause)) byTest.set(key, (byTest.get(key) ?? 0) + 1);
      return {
        cost: (usd) => {
          if (usd === null) return;
          costUsd = (costUsd ?? 0) + usd;
          dearest = Math.max(dearest, usd);
        },
        [Symbol.dispose]: () => {
          atWork -= 1;
          for (const wake of waiting.splice(0)) wake();
        },
      };
    },
    mayStart: async (limits) => atWork === 0 || (costUsd ?? 0) + atWork * dearest < limits.costUsd,
    nextEnd: () => new Promise((resolve) => void waiting.push(resolve)),
    agentRestarted: () => {
      agentRuns += 1;
    },
    nextAttempt: () => (attempts += 1),
    spentFor: (cause, now) => ({
      agentRuns,
      agentRunsOnTest: Math.max(0, ...keysOf(cause).map((key) => byTest.get(key) ?? 0)),
      costUsd: costUsd ?? 0,
      elapsedMs: now - startedAt,
    }),
    totals: () => ({ agentRuns, costUsd }),
  };
}

function keysOf(cause: Cause): string[] {
  return cause.members.map((member) => failureKey(member.failure));
}
