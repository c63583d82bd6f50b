import type { Attempt } from '../model/attempt.js';
import type { Blame } from '../model/blame.js';
import type { Cause } from '../model/cause.js';
import type { RememberedFix } from '../store/store.js';
import type { PreparedPatch, Propose } from './proposed-fix.js';

/** What implements the steps of healing that have more than one way. A command says which a run has. */
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
  /** Makes one run, with the project's tree to itself, for the causes that are still wanted, first of all the first; returns whether there was any to make. */
  next(isWanted?: (causeId: string) => boolean): Promise<boolean>;
  /** Whether the search for a cause goes on. */
  isOpen(causeId: string): boolean;
  /** What is known to have broken a cause so far. */
  of(causeId: string): Promise<Blame | null>;
}

/** Begins to search for the change that broke each cause (BL-1). */
export type BlameCauses = (causes: readonly Cause[]) => Promise<BlameSearches>;
