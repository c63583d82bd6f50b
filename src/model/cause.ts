import { z } from 'zod';
import type { Blame } from './blame.js';
import { isProjectRule } from '../diagnose/rule.js';
import { diagnosisShape, type RetryAxis } from './diagnosis.js';
import type { Evidence } from './evidence.js';
import type { Flake } from './flake.js';
import type { Failure } from './failure.js';
import { textOrNull, texts } from './shape.js';

/** What is decided about a failure. */
export const diagnosedShape = z.object({
  /** Counted from 1 within the run; names its folder, `failures/<n>/`. */
  n: z.int().positive(),
  diagnosis: diagnosisShape,
  /** `{project}:{errorType}:{hash8}` (ME-1). */
  signature: z.string(),
  /** Ids of the Playwright tests that reproduce exactly this failure; empty for a failure of the suite itself. */
  rerunIds: texts,
  /** Those of them that only ran before it when it was red, green themselves: it may need them or not. Absent if there are none. */
  along: texts.exactOptional(),
  /** Those of them without which it is green. Absent if it is red alone, or that is not known. */
  needs: texts.exactOptional(),
  /** What a look at the machine has shown: who is to blame in place of the code, in a sentence, or null for nobody; absent if nothing was looked at. */
  machine: textOrNull.exactOptional(),
});

/** A failure with its evidence and its diagnosis. */
export interface DiagnosedFailure extends z.infer<typeof diagnosedShape> {
  readonly failure: Failure;
  readonly evidence: Evidence;
  /** The number of the failure that was run again in its stead, since the two are alike; absent if it was run again itself. */
  readonly like?: number;
  /** Whether the run that showed it was traced, so that its evidence is all there is to have. */
  readonly isTraced?: boolean;
}

/** All failures of a run that share a root cause: the unit of healing (HL-6). */
export interface Cause {
  /** `c1`, `c2` … within the run. */
  readonly id: string;
  /** The failure that is shown to the agent. */
  readonly lead: DiagnosedFailure;
  readonly members: readonly DiagnosedFailure[];
  /** The cause whose partial fix revealed this one (HL-3), or null. */
  readonly parent: string | null;
  /** Why no agent can help, or null: many tests failed on one dead server for no visible reason (HL-7). */
  readonly environment: string | null;
  /** The change that broke its lead test, as shown by runs (BL-1); absent if there was no search or it found nothing. */
  readonly blame?: Blame;
  /** What was found out about its test, if it is a flake. */
  readonly flake?: Flake;
}

/**
 * Returns what the fix of a cause needs (CS-11). If a change of the code broke the test, code can fix it, whatever the error is
 * worded like; only the project's own rules outrank that.
 */
export function retryOf({ lead, blame }: Pick<Cause, 'lead' | 'blame'>): RetryAxis {
  const { retry, why } = lead.diagnosis;
  return blame && !why.some(({ rule }) => isProjectRule(rule)) ? 'code_error' : retry;
}
