import type { AgentUsage, Attempt } from './attempt.js';

/** What agent programs report of money and tokens, added up; null where none of them says. */
export type Spent = Pick<AgentUsage, 'costUsd' | 'inputTokens' | 'outputTokens'>;

/** What attempts have cost together. */
export function spentOn(attempts: readonly Pick<Attempt, 'usage'>[]): Spent {
  const sum = (of: keyof Spent) => {
    const told = attempts.flatMap(({ usage }) => usage?.[of] ?? []);
    return told.length === 0 ? null : told.reduce((total, one) => total + one, 0);
  };
  return { costUsd: sum('costUsd'), inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}
