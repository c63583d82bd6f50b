import type { Note } from '../core/guard/note.js';
import type { Violation } from '../core/guard/violation.js';
import type { OtherInput } from './other-input.js';

/** What the guard says of a change. */
export interface Judgement {
  /** Empty for an honest change. */
  readonly violations: readonly Violation[];
  readonly notes: readonly Note[];
  /** The healed tests with other inputs, where the fix decides by theirs; null where there is nothing to run. */
  readonly otherInput: OtherInput | null;
}

/** Nothing is wrong, and nothing is to be said. */
export const harmless: Judgement = { violations: [], notes: [], otherInput: null };
