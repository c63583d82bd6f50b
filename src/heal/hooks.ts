import type { Attempt, Proposer, Review } from '../model/attempt.js';
import type { Blame } from '../model/blame.js';
import type { Cause } from '../model/cause.js';
import type { Side } from '../model/choice.js';
import type { Note } from '../model/guard-findings.js';
import type { Result } from '../result.js';
import type { FailureHistory, RememberedFix } from '../store/store.js';
import type { ContentStore } from '../workspace/change.js';
import type { FileEdit } from '../workspace/file-state.js';

/** The steps of healing that clients implement. Each command chooses them for its run. */
export interface Hooks {
  /** Propose fixes before an agent starts, in this order. A patch that a person chose comes before all of them. */
  readonly proposers?: readonly Propose[];
  /** The reason why no agent starts in this run, as a sentence; absent if agents may start. */
  readonly noAgents?: string;
  /** Returns a patch that updates the expected texts in the tests to those on the page (BL-6); null if there is none. */
  readonly proposeExpectations?: (cause: Cause) => Promise<PreparedPatch | null>;
  /** Called when an attempt has ended, with how far it is proven. */
  readonly onAttemptEnd?: (cause: Cause, attempt: Attempt, proven: RememberedFix['proven']) => Promise<void>;
}

/** Searches for the changes that broke the tests of several causes. The searches share Playwright runs. */
export interface BlameSearches {
  /** Makes the most useful run for the first wanted cause. The caller must hold the working tree. Returns false if no run is needed. */
  next(isWanted?: (causeId: string) => boolean): Promise<boolean>;
  /** True if the search for a cause needs another run. */
  needsRun(causeId: string): boolean;
  /** Returns the change to blame for a cause, as far as the search has found it. */
  findBlame(causeId: string): Promise<Blame | null>;
  /** True if runs have shown that different changes broke two causes, even if the changes are not known exactly. */
  haveDifferentCauses(causeId: string, otherId: string): boolean;
}

/** Begins the searches for the changes that broke these causes (BL-1). */
export type BlameCauses = (causes: readonly Cause[]) => Promise<BlameSearches>;

/** A fix that needs no new agent run. */
export interface ProposedFix {
  /** The name of the agent that made it. */
  readonly agent: string;
  readonly proposedBy: Proposer;
  readonly summary: string;
  /** The id of a remembered fix. */
  readonly remembered?: string;
  /** The reviewer's opinion from when the fix was made. */
  readonly reading?: Review;
  /** Stores the contents and returns the edits relative to the workspace's root, or why they do not fit the current files. */
  readonly edits: (root: string, contents: ContentStore) => Promise<Result<readonly FileEdit[], string>>;
}

/** A cause, and the store's memory of it from earlier runs. */
export interface ProposalRequest {
  readonly cause: Cause;
  readonly memory: FailureHistory;
}

/** Proposes fixes for a cause, best first. */
export type Propose = (request: ProposalRequest) => AsyncIterable<ProposedFix>;

/** A patch that needs a person's decision. */
export interface PreparedPatch {
  readonly side: Side;
  /** The effect of the patch, as a sentence without a period. */
  readonly summary: string;
  readonly edits: readonly FileEdit[];
  /** Lines that a person should look at. */
  readonly notes?: readonly Note[];
  /** True if the patch may delete the failing test, because an author's change may have removed the feature. */
  readonly mayDeleteTests?: boolean;
}
