import type { Note } from '../core/guard/note.js';
import type { Violation } from '../core/guard/violation.js';
import type { OtherInput } from './other-input.js';

/** The guard's judgement of a change. */
export interface Findings {
  /** Empty for an honest change. */
  readonly violations: readonly Violation[];
  readonly notes: readonly Note[];
  /** The healed tests with other inputs, if the fix decides by the original ones; null if there is nothing to run. */
  readonly otherInput: OtherInput | null;
}

/** What a check reports. */
export type Judged = Pick<Findings, 'violations' | 'notes'>;

/** No violations, and nothing to report. */
export const harmless: Findings = { violations: [], notes: [], otherInput: null };
