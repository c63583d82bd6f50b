import type { FileChange, Judgement } from './attempt.js';

/** What earlier runs left in the count of a failure's signature (ME-8). */
export interface EarlierTries {
  /** Tries that did not heal it, since it was last healed or a person answered. */
  readonly count: number;
  /** Of these, fixes: an agent changed something and the test stayed red (HL-5). */
  readonly failedFixes: number;
}

/** A failure that was never seen, or whose count a heal or an answer has reset. */
export const noEarlierTries: EarlierTries = { count: 0, failedFixes: 0 };

/** A fix that was proven in an earlier run, and did not last. */
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

/** What becomes of a signature's count when a try was judged. */
export type CountChange = 'counts' | 'resets' | 'leaves';

/**
 * What a judged try means for its signature (ME-2): the same failure again counts, a heal begins anew, and everything else
 * leaves the count as it is. Another error is progress and has a count of its own; what was not judged was the trouble of
 * the agent's program, or ours (ME-4).
 */
export function countChange(judged: Judgement): CountChange {
  if (judged === 'green') return 'resets';
  return judged === 'still-failing' || judged === 'vanished' ? 'counts' : 'leaves';
}

/** Whether the tries of a signature are used up, so that its next failure is a person's (ME-2): the fourth, by default. */
export function isUsedUp({ count }: EarlierTries, maxTries: number): boolean {
  return count >= Math.max(1, maxTries);
}
