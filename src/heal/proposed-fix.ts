import type { Proposer } from '../core/attempt.js';
import type { Result } from '../result.js';
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
