import type { AgentUsage, Attempt } from './attempt.js';

/** The sum of what agent programs report in money and tokens; null for what none of them reports. */
export type Spent = Pick<AgentUsage, 'costUsd' | 'inputTokens' | 'outputTokens'>;

/** Adds up what attempts have cost. */
export function spentOn(attempts: readonly Pick<Attempt, 'usage'>[]): Spent {
  const sum = (of: keyof Spent) => {
    const told = attempts.flatMap(({ usage }) => usage?.[of] ?? []);
    return told.length === 0 ? null : told.reduce((total, one) => total + one, 0);
  };
  return { costUsd: sum('costUsd'), inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}
