import { z } from 'zod';
import { type AttemptEnd, fileChangeShape } from './attempt.js';
import { categoryShape } from './diagnosis.js';
import { count, listOf, textOrNull } from './shape.js';

/** What earlier runs counted for a failure's signature (ME-8). */
export interface EarlierTries {
  /** Tries that did not heal it since it was last healed or a person last answered. */
  readonly count: number;
  /** How many of these were fixes: an agent changed something and the test stayed red (HL-5). */
  readonly failedFixes: number;
}

/** The count of a new failure, or of one whose count was reset by a heal or an answer. */
export const noEarlierTries: EarlierTries = { count: 0, failedFixes: 0 };

/** An earlier run's proven fix for a failure that has come back. */
export const earlierFixShape = z.object({
  runId: z.string(),
  /** ISO 8601. */
  healedAt: z.string(),
  /** The class of the cause that it healed; null if that was not stored. */
  category: categoryShape.nullable(),
  agent: textOrNull,
  summary: textOrNull,
  files: listOf(fileChangeShape),
  /** Relative to the project, or null. */
  patch: textOrNull,
  /** How often this failure has been healed. */
  times: count,
});
export type EarlierFix = z.infer<typeof earlierFixShape>;

/** How a judged try changes its signature's count. */
export type CountChange = 'counts' | 'resets' | 'leaves';

/**
 * Returns what a judged try means for its signature (ME-2): a fix that did not hold counts, a heal resets, and anything else leaves the
 * count unchanged. Another error is progress and has its own count; a try that was not judged failed because of the agent's program
 * or self-heal itself (ME-4).
 */
export function countChange(kind: AttemptEnd['kind']): CountChange {
  if (kind === 'green') return 'resets';
  return kind === 'still-failing' || kind === 'vanished' || kind === 'taken-out' ? 'counts' : 'leaves';
}

/** Whether a signature has no tries left, so that its next failure (by default the fourth) is escalated (ME-2). */
export function isUsedUp({ count }: EarlierTries, maxTries: number): boolean {
  return count >= Math.max(1, maxTries);
}
