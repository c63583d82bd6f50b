import type { Attempt } from '../core/attempt.js';
import type { Category } from '../core/diagnosis.js';
import type { Answer, Escalation, EscalationState, Question } from '../core/escalation.js';
import type { EarlierFix, EarlierTries } from '../core/remembered.js';
import type { Database } from './tables.js';

/** What is remembered of a failure when it is met. */
export interface KnownFailure {
  readonly tries: EarlierTries;
  /** The last tries that failed, oldest first, `patch` relative to any run's folder. */
  readonly tried: readonly Attempt[];
  /** The fix that had healed it in an earlier run, or null where it was never healed. */
  readonly fix: EarlierFix | null;
  /** What a person answered, or null. */
  readonly guidance: string | null;
  /** The question that waits for a person, or null. */
  readonly open: Escalation | null;
}

/** A test whose failing was accepted for now (ME-7). */
export interface Quarantine {
  readonly testId: string;
  readonly name: string;
  readonly escalationId: string;
  /** ISO 8601. */
  readonly since: string;
  /** When it ends by itself, ISO 8601. */
  readonly until: string;
}

/** A run as it begins. */
export interface RunStart {
  readonly runId: string;
  /** What was typed, as plain data. */
  readonly request: unknown;
  readonly resumedFrom: string | null;
}

/** A run as it ends. */
export interface RunEnd {
  readonly outcome: string;
  readonly exitCode: number;
  readonly flaky: number;
  readonly agentRunsAvoided: number;
}

/** A run that was begun, and how it ended if it did. */
export interface StoredRun {
  readonly runId: string;
  readonly startedAt: string;
  readonly outcome: string | null;
  readonly request: unknown;
  readonly progress: unknown;
  /** The newest run that went on with it, or null. */
  readonly continuedIn: string | null;
}

/** A try before its agent starts. */
export interface AttemptStart {
  /** Under which it is finished. */
  readonly id: string;
  readonly runId: string;
  readonly causeId: string;
  readonly signature: string;
  readonly n: number;
  readonly agent: string | null;
}

/** How a cause ended. */
export interface CauseEnd {
  readonly runId: string;
  readonly causeId: string;
  readonly signature: string;
  readonly category: Category;
  readonly verdict: string;
  readonly reason: string;
  /** Healed by the fix of another cause, without a try of its own. */
  readonly bySharedFix: boolean;
}

/** A fix that did not last, and why. */
export type FixReverted = Pick<CauseEnd, 'runId' | 'causeId' | 'signature' | 'reason'>;

/**
 * What outlives a run, for one project; each method rejects where the store fails. What a run writes may be written again where it is not known
 * whether it arrived: it then counts once.
 */
export interface Store {
  runStarted(run: RunStart): Promise<void>;
  /** Where each test stands now, as plain data. */
  saveProgress(runId: string, progress: unknown): Promise<void>;
  runEnded(runId: string, end: RunEnd): Promise<void>;
  /** The run of this id, or the newest; null where there is none. */
  run(runId: string | null): Promise<StoredRun | null>;
  /** Notes that a failure is there (again), and gives what is known of it. */
  recordFailure(signature: string, runId: string): Promise<KnownFailure>;
  attemptStarted(start: AttemptStart): Promise<void>;
  /** Writes how a try was judged and changes its signature's count, both or neither, and once however often it is called. */
  attemptFinished(id: string, attempt: Attempt): Promise<void>;
  causeEnded(end: CauseEnd): Promise<void>;
  /** A heal of this run broke other tests and was reverted (HN-6): its fix was a failed one. */
  fixReverted(end: FixReverted): Promise<void>;
  /** Writes a question down; gives the one that is open already for the same signature where there is one. */
  escalate(question: Question, runId: string): Promise<Escalation>;
  /** Newest first; all states for null. */
  escalations(state: EscalationState | null): Promise<Escalation[]>;
  escalation(id: string): Promise<Escalation | null>;
  /** Answers a question: resets its signature's count, keeps the guidance, quarantines or releases its tests (ME-7). */
  resolve(id: string, answer: Answer): Promise<Escalation | null>;
  /** Those that have not ended. */
  quarantines(): Promise<Quarantine[]>;
  /** Lets tests go: red, they fail the run again, and an agent may be paid for them. */
  release(testIds: readonly string[]): Promise<void>;
  /** A person reverted what this run had changed (HN-8): its heals did not hold, and its fixes are ones that failed. */
  runUndone(runId: string): Promise<void>;
  close(): Promise<void>;
}

/** What the tables of a store share. */
export interface StoreContext {
  readonly db: Database;
  readonly project: string;
  /** ISO 8601. */
  readonly now: () => string;
  readonly newId: () => string;
}
