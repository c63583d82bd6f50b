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
}

/** What the rounds of one run share. */
export interface Progress {
  readonly session: Session;
  readonly board: Scoreboard;
  readonly causes: CauseRecord[];
  suiteFlakes: number;
}
