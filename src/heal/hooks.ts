import type { Attempt, Proposer, Reading } from '../model/attempt.js';
import type { Blame } from '../model/blame.js';
import type { Cause } from '../model/cause.js';
import type { Side } from '../model/choice.js';
import type { Note } from '../model/guard-findings.js';
import type { Result } from '../result.js';
import type { KnownFailure, RememberedFix } from '../store/store.js';
import type { Contents } from '../workspace/change.js';
import type { FileEdit } from '../workspace/file-state.js';

/** Steps of healing that clients implement. Each command says which of them its run has. */
export interface Hooks {
  /** Who proposes fixes before an agent is started, in the order in which they are asked. A person who has chosen a patch comes first anyway. */
  readonly proposers?: readonly Propose[];
  /** Why no agent is started, as a sentence; absent if agents are. */
  readonly noAgents?: string;
  /** Returns the patch with which the tests of a cause expect what the app does now (BL-6); null if there is none. */
  readonly follow?: (cause: Cause) => Promise<PreparedPatch | null>;
  /** Learns how an attempt ended, and how far it is proven. */
  readonly attemptEnded?: (cause: Cause, attempt: Attempt, proven: RememberedFix['proven']) => Promise<void>;
}

/** The searches for the changes that broke some causes, which share their Playwright runs. */
export interface BlameSearches {
  /** Makes one run, with the project's tree to itself, for the wanted causes, the first of them above all; returns whether there was one to make. */
  next(isWanted?: (causeId: string) => boolean): Promise<boolean>;
  /** Whether the search for a cause goes on. */
  needsRun(causeId: string): boolean;
  /** What is known to have broken a cause so far. */
  of(causeId: string): Promise<Blame | null>;
  /** Whether runs have shown that different changes broke two causes, even if the changes are not known exactly. */
  haveDifferentCauses(causeId: string, otherId: string): boolean;
}

/** Begins to search for the change that broke each cause (BL-1). */
export type BlameCauses = (causes: readonly Cause[]) => Promise<BlameSearches>;

/** A fix that needs no agent's work. */
export interface ProposedFix {
  /** The name of the agent whose fix it is. */
  readonly agent: string;
  readonly proposedBy: Proposer;
  readonly summary: string;
  /** The id of a remembered fix. */
  readonly remembered?: string;
  /** What its reader said when it was made. */
  readonly reading?: Reading;
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
