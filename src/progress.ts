import type { Attempt } from './core/attempt.js';
import type { Cause } from './core/cause.js';
import type { CauseVerdict } from './core/verdict.js';
import type { Scoreboard } from './scoreboard.js';
import type { Session } from './session.js';

/** A cause with its ending. */
export interface CauseRecord {
  readonly cause: Cause;
  readonly verdict: CauseVerdict;
  readonly reason: string;
  readonly attempts: readonly Attempt[];
  /** A limit ended it (exit 4). */
  readonly overBudget: boolean;
  /** It was left in the middle of its work. */
  readonly interrupted?: boolean;
  /** Of the question that it ended with; null where the store did not take it. */
  readonly escalationId?: string | null;
  /** An earlier run asked it. */
  readonly askedBefore?: boolean;
}

/** What the rounds of one run share. */
export interface Progress {
  readonly session: Session;
  readonly board: Scoreboard;
  readonly causes: CauseRecord[];
  suiteFlakes: number;
  /** The first run showed a failure of the suite's own, or was broken off: its tests' standings are not the whole of it. */
  readonly firstWasBroken: boolean;
  /** What to run so that a test of the first run runs again, by its id. */
  readonly rerunIds: Readonly<Record<string, readonly string[]>>;
}
