import { z } from 'zod';
import { type Attempt, reviewShape } from '../model/attempt.js';
import type { Category } from '../model/diagnosis.js';
import { flakeKinds } from '../model/flake.js';
import type { Answer, Escalation, EscalationState, PersonsDecision, Question } from '../model/escalation.js';
import type { DayCosts } from '../model/spent.js';
import { listOf, runIdShape } from '../model/shape.js';
import { safePath } from '../workspace/safe-path.js';
import type { EarlierFix, EarlierTries } from '../model/earlier-runs.js';

/** The history of a failure, from all runs of the project. */
export interface FailureHistory {
  readonly tries: EarlierTries;
  /** The last failed attempts, oldest first, with `patch` relative to any run's folder. */
  readonly failedAttempts: readonly Attempt[];
  /** The fix that healed it in an earlier run, or null if it was never healed. */
  readonly fix: EarlierFix | null;
  readonly guidance: string | null;
  /** A person's decision other than guidance, or null. */
  readonly decision: PersonsDecision | null;
  readonly openEscalation: Escalation | null;
}

/** A test whose failure a person has accepted for a limited time (ME-7). */
export const quarantineShape = z.object({
  testId: z.string(),
  name: z.string(),
  escalationId: z.string(),
  since: z.iso.datetime(),
  until: z.iso.datetime(),
});
export type Quarantine = z.infer<typeof quarantineShape>;

/** A test that was red and green on the same code, with the counts of both. */
export const flakeRecordShape = z.object({
  testId: z.string(),
  name: z.string(),
  /** The kind of flake according to an experiment; null without one. */
  kind: z.enum(flakeKinds).nullable(),
  red: z.number(),
  green: z.number(),
  lastSeen: z.iso.datetime(),
});
export type FlakeRecord = z.infer<typeof flakeRecordShape>;

const contentShape = z.object({
  mode: z.union([z.literal(0o644), z.literal(0o755)]),
  bytes: z.base64(),
});
export type FileContent = z.infer<typeof contentShape>;

/** A green fix, kept in case its failure comes back. */
export const rememberedFixShape = z.object({
  id: z.string(),
  runId: runIdShape,
  /** The agent that made it. */
  agent: z.string().regex(/^[\w.-]{1,64}$/),
  savedAt: z.iso.datetime(),
  proven: z.enum(['green-once', 'proven']),
  /** The reviewer's opinion when it was made; null if nobody reviewed it. */
  reading: reviewShape.nullable(),
  /** Each path, relative to the root of the repository, with its content before and after; null if the file does not exist. */
  edits: listOf(
    z.object({ path: safePath, before: contentShape.nullable(), after: contentShape.nullable() }),
  ),
});
export type RememberedFix = z.infer<typeof rememberedFixShape>;

/** A fix to remember, under the signatures of the failures that it healed. */
export interface FixToRemember extends Omit<RememberedFix, 'id' | 'savedAt'> {
  readonly causeId: string;
  readonly signatures: readonly string[];
  /** The id of the remembered fix from which it was merged, and which it replaces once it is proven. */
  readonly replaces: string | null;
}

export interface AttemptStart {
  /** The id that `finishAttempt` takes. */
  readonly id: string;
  readonly runId: string;
  readonly causeId: string;
  readonly signature: string;
  /** The class of its cause. */
  readonly category: Category;
  readonly n: number;
  readonly agent: string | null;
  /** The program that works on it; `built-in` for a fix that no agent made. */
  readonly runner: string | null;
}

/** A failure in a run. */
export interface Occurrence {
  readonly signature: string;
  readonly runId: string;
}

/** A fix that did not hold. */
export interface FixReversal extends Occurrence {
  readonly causeId: string;
  readonly reason: string;
}

/** The data of a project that outlive its runs. A method rejects if the store fails, unless `createWarningStore` wraps the store. */
export interface Store {
  /** Records that a failure occurred, and returns what the store knew about it. */
  recordFailure(signature: string, runId: string): Promise<FailureHistory>;
  startAttempt(start: AttemptStart): Promise<void>;
  /** Stores an attempt's result and updates its signature's count, atomically. A repeated call changes nothing. */
  finishAttempt(id: string, attempt: Attempt): Promise<void>;
  /** Records that the fix for another cause healed a failure. */
  recordHealByOtherFix(healed: Occurrence): Promise<void>;
  /** Records that a heal of this run broke other tests and was reverted (HN-6): its fix counts as failed. */
  recordRevert(reversal: FixReversal): Promise<void>;
  /** Stores an escalation, or returns the pending one of the same signature. Returns null if the store failed; the question is then only in the report. */
  escalate(question: Question, runId: string): Promise<Escalation | null>;
  /** Returns the escalations in this state, or in any state if it is null, newest first. */
  listEscalations(state: EscalationState | null): Promise<Escalation[]>;
  /** Answers an escalation: resets its signature's count, keeps the guidance, and quarantines or releases its tests (ME-7). */
  answerEscalation(id: string, answer: Answer): Promise<Escalation | null>;
  /** Closes a pending escalation that no longer needs an answer; agents may work on its failure again. */
  closeEscalation(id: string, because: string): Promise<void>;
  /** Returns the quarantines that have not expired. */
  listQuarantines(): Promise<Quarantine[]>;
  /** Ends the quarantine of these tests: if red, they fail the run again and may get an agent. */
  releaseTests(testIds: readonly string[]): Promise<void>;
  /** Records that a person undid this run's changes (HN-8): its heals did not hold, and its fixes count as failed. */
  recordUndo(runId: string): Promise<void>;
  /** Adds red and green runs of a flaky test to its stored counts. */
  recordFlake(flake: Omit<FlakeRecord, 'lastSeen'>): Promise<void>;
  /** Returns all tests that were ever flaky, those with the highest share of red runs first. */
  listFlakes(): Promise<FlakeRecord[]>;
  /** Remembers a fix of at most 200 kB, and returns its id, or null if it is too large. Only the newest three of a signature are kept. */
  rememberFix(fix: FixToRemember): Promise<string | null>;
  /** Returns the fixes that may be tried again for a failure, newest first. */
  listRememberedFixes(signature: string): Promise<RememberedFix[]>;
  /** Records that a fix did not hold for these failures, or needs a person's judgement. It is not tried again. */
  refuseFix(id: string, signatures: readonly string[]): Promise<void>;
  /** Sums the costs of agents in the last 24 hours, on all machines that share the store. */
  sumLastDay(): Promise<DayCosts>;
  close(): Promise<void>;
}
