import type { Attempt } from '../core/attempt.js';
import type { Avoided, AvoidedReason } from '../core/avoided.js';
import type { Cause } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import type { Spent } from '../core/policy.js';

/** Keeps what a run has spent; `Spent` for a decision is read from it. */
export interface Spending {
  agentStarted(cause: Cause): void;
  /** The same agent once more, for a reason that is no test's fault (AG-7): it counts for the run alone. */
  agentRestarted(): void;
  /** The number of an attempt within the run, from 1: names its files and its change, in the order in which they were made. */
  nextAttempt(): number;
  attemptEnded(attempt: Attempt): void;
  /** Agents that were not started, and why not. */
  avoided(count: number, reason: AvoidedReason): void;
  spentFor(cause: Cause, now: number): Spent;
  totals(): { agentRuns: number; agentRunsAvoided: number; avoided: Avoided[]; costUsd: number | null };
}

/** Starts counting at `startedAt`, in milliseconds since the epoch. */
export function createSpending(startedAt: number): Spending {
  const byTest = new Map<string, number>();
  let agentRuns = 0;
  let attempts = 0;
  const avoided = new Map<AvoidedReason, number>();
  let costUsd: number | null = null;
  return {
    agentStarted: (cause) => {
      agentRuns += 1;
      for (const key of keysOf(cause)) byTest.set(key, (byTest.get(key) ?? 0) + 1);
    },
    agentRestarted: () => {
      agentRuns += 1;
    },
    nextAttempt: () => (attempts += 1),
    attemptEnded: (attempt) => {
      if (attempt.usage?.costUsd != null) costUsd = (costUsd ?? 0) + attempt.usage.costUsd;
    },
    avoided: (count, reason) => {
      if (count > 0) avoided.set(reason, (avoided.get(reason) ?? 0) + count);
    },
    spentFor: (cause, now) => ({
      agentRuns,
      agentRunsOnTest: Math.max(0, ...keysOf(cause).map((key) => byTest.get(key) ?? 0)),
      costUsd: costUsd ?? 0,
      elapsedMs: now - startedAt,
    }),
    totals: () => ({
      agentRuns,
      agentRunsAvoided: [...avoided.values()].reduce((sum, count) => sum + count, 0),
      avoided: [...avoided].map(([reason, count]) => ({ reason, count })),
      costUsd,
    }),
  };
}

function keysOf(cause: Cause): string[] {
  return cause.members.map((member) => failureKey(member.failure));
}
