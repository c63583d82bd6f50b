import { z } from 'zod';
import { type AttemptEnd, fileChangeShape } from './attempt.js';
import { categoryShape } from './diagnosis.js';
import { count, listOf, textOrNull } from './shape.js';

/** The tries of earlier runs, counted by a failure's signature (ME-8). */
export interface EarlierTries {
  /** Unsuccessful tries since the last heal or a person's last answer. */
  readonly count: number;
  /** How many of these were failed fixes: an agent made a change and the test stayed red (HL-5). */
  readonly failedFixes: number;
}

/** The count of a new failure, or of one whose count was reset by a heal or an answer. */
export const noEarlierTries: EarlierTries = { count: 0, failedFixes: 0 };

/** An earlier run's proven fix for a failure that has come back. */
export const earlierFixShape = z.object({
  runId: z.string(),
  /** ISO 8601. */
  healedAt: z.string(),
  /** The class of the healed cause; null if it was not stored. */
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
 * Decides how a judged try changes the count of its signature (ME-2): a failed fix counts, a heal resets, and anything else leaves the count
 * unchanged. A different error is progress and has its own count; a try without a fix to judge failed because of the agent's program or self-heal
 * itself (ME-4).
 */
export function decideCountChange(kind: AttemptEnd['kind']): CountChange {
  if (kind === 'green') return 'resets';
  return kind === 'still-failing' || kind === 'vanished' || kind === 'taken-out' ? 'counts' : 'leaves';
}

/** True if a signature has no tries left, so that its next failure (by default the fourth) is escalated (ME-2). */
export function hasNoTriesLeft({ count }: EarlierTries, maxTries: number): boolean {
  return count >= Math.max(1, maxTries);
}
