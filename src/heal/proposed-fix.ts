import type { Proposer } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import type { Side } from '../model/choice.js';
import type { Note } from '../model/guard-findings.js';
import type { Result } from '../result.js';
import type { KnownFailure } from '../store/store.js';
import type { Contents } from '../workspace/change.js';
import type { FileEdit } from '../workspace/file-state.js';

/** A fix that needs no agent's work. */
export interface ProposedFix {
  /** The name of the agent whose fix it is. */
  readonly agent: string;
  readonly proposedBy: Proposer;
  readonly summary: string;
  /** The id of a remembered fix. */
  readonly remembered?: string;
  /** Stores the contents and returns the edits relative to the workspace's root, or why they do not fit the current files. */
  readonly edits: (root: string, contents: Contents) => Promise<Result<readonly FileEdit[], string>>;
}

/** A cause, and what earlier runs know about it. */
export interface ProposalRequest {
  readonly cause: Cause;
  readonly known: KnownFailure;
}

/** Proposes fixes for a cause, best first. */
export type Propose = (request: ProposalRequest) => AsyncIterable<ProposedFix>;

/** A patch of which only a person can say whether it is right. */
export interface PreparedPatch {
  readonly side: Side;
  /** What it does, as a sentence without its period. */
  readonly summary: string;
  readonly edits: readonly FileEdit[];
  /** What a person should look at. */
  readonly notes?: readonly Note[];
  /** Whether its tests may be gone with it: an author's change may have made them needless. */
  readonly mayTakeOut?: boolean;
}
