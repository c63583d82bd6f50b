import type { FileChange, Judgement } from './attempt.js';

/** What earlier runs counted for a failure's signature (ME-8). */
export interface EarlierTries {
  /** Tries that did not heal it, since it was last healed or a person answered. */
  readonly count: number;
  /** Of these, fixes: an agent changed something and the test stayed red (HL-5). */
  readonly failedFixes: number;
}

/** A failure not seen before, or whose count was reset by a heal or an answer. */
export const noEarlierTries: EarlierTries = { count: 0, failedFixes: 0 };

/** A fix that an earlier run proved and that did not last. */
export interface EarlierFix {
  readonly runId: string;
  /** ISO 8601. */
  readonly healedAt: string;
  readonly agent: string | null;
  readonly summary: string | null;
  readonly files: readonly FileChange[];
  /** Relative to the project, or null. */
  readonly patch: string | null;
  /** How often this failure has been healed. */
  readonly times: number;
}

/** What a judged try does to its signature's count. */
export type CountChange = 'counts' | 'resets' | 'leaves';

/**
 * What a judged try means for its signature (ME-2): the same failure again counts, a heal resets, and everything else leaves the
 * count as it is. Another error is progress and has a count of its own; a try that was not judged failed in the agent's program
 * or in self-heal (ME-4).
 */
export function countChange(judged: Judgement): CountChange {
  if (judged === 'green') return 'resets';
  return judged === 'still-failing' || judged === 'vanished' ? 'counts' : 'leaves';
}

/** Whether a signature's tries are used up, so that its next failure, by default the fourth, is escalated (ME-2). */
export function isUsedUp({ count }: EarlierTries, maxTries: number): boolean {
  return count >= Math.max(1, maxTries);
}
