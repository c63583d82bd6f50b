import type { Attempt } from '../core/attempt.js';
import type { Cause } from '../core/cause.js';
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
