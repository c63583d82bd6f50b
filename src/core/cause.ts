import type { Blame } from './blame.js';
import type { Diagnosis } from './diagnosis.js';
import type { Evidence } from './evidence.js';
import type { Failure } from './failure.js';

/** A failure with what was gathered and what it is taken for. */
export interface DiagnosedFailure {
  /** From 1 within the run; names its folder, `failures/<n>/`. */
  readonly n: number;
  readonly failure: Failure;
  readonly evidence: Evidence;
  readonly diagnosis: Diagnosis;
  /** `{project}:{errorType}:{hash8}` (ME-1). */
  readonly signature: string;
  /** Playwright ids to run so that exactly this failure runs again; empty for the suite's own. */
  readonly rerunIds: readonly string[];
}

/** All failures of a run that share a root cause: the unit of healing (HL-6). */
export interface Cause {
  /** `c1`, `c2` … within the run. */
  readonly id: string;
  /** The one that is shown to the agent; the rest follow it. */
  readonly lead: DiagnosedFailure;
  readonly members: readonly DiagnosedFailure[];
  /** The cause whose partial fix uncovered this one (HL-3), or null. */
  readonly parent: string | null;
  /** Many tests on one dead server that nothing in the evidence explains: no agent can help (HL-7). */
  readonly environment: string | null;
  /** The change that broke its leading test, as runs have shown (BL-1); absent where nobody looked, or nothing was found. */
  readonly blame?: Blame;
}
