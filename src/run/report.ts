import type { AgentUsage, Attempt } from '../core/attempt.js';
import type { Blame } from '../core/blame.js';
import type { Avoided } from '../core/avoided.js';
import type { Cut } from '../core/guard/cut.js';
import type { Note } from '../core/guard/note.js';
import type { Proof, TestProof } from '../core/proof.js';
import type { VerifyLevel } from '../core/settings.js';
import type { CauseVerdict, Outcome } from '../core/verdict.js';
import type { Verification } from '../core/verification.js';
import type { CauseSummary, RegressionResult } from '../event.js';
import type { FlakeState, TestState } from './run-state.js';

/** `report.json`: the result of a run. Other programs read it; a change of meaning requires a new `schemaVersion`. */
export interface Report {
  schemaVersion: 1;
  runId: string;
  project: string;
  startedAt: string;
  outcome: Outcome;
  /** Null for a run that did not reach its end; the report is then created from its events and not stored. */
  exitCode: number | null;
  /** Why no further agent was started, if the outcome is `paused` (ME-2). */
  status?: 'escalation_threshold_exceeded';
  /** The run that this one continued (`self-heal resume`). */
  resumedFrom?: string;
  /** The commit it ran on; null if there were uncommitted changes. */
  commit: string | null;
  /** The shards whose reports say how these tests ended (`self-heal heal --from`), and the numbers of those that are missing. */
  shards?: { total: number; missing: readonly number[] };
  /** Whether evidence was only gathered and classified (`--dry-run`). */
  dryRun: boolean;
  tests: ReportTest[];
  causes: ReportCause[];
  escalations: ReportEscalation[];
  /** What `self-heal flaky` found; absent if it did not look. */
  flakes?: readonly FlakeState[];
  /** The requested level of proof. */
  verify: VerifyLevel;
  /** The re-run of the tests around the fixes after healing (HN-6); null if there was none. */
  regression: RegressionResult | null;
  /** What was shown about the changes in the working tree; absent unless that was asked (`self-heal verify`). */
  verification?: Verification;
  warnings: readonly string[];
  /** A failure of the suite itself, which belongs to no test, counts as one more where it is healed or failed. */
  totals: {
    tests: number;
    passed: number;
    flaky: number;
    healed: number;
    /** Green with a fix that was not proven (`verify: none`). */
    greenOnce: number;
    failed: number;
    /** Left out by the suite itself. */
    skipped: number;
    /** No Playwright run got to them. */
    notRun: number;
    /** Playwright runs, including the first one. */
    playwrightRuns: number;
    agentRuns: number;
    agentRunsAvoided: number;
    /** The reasons, each listed once; their counts add up to `agentRunsAvoided`. */
    avoided: readonly Avoided[];
    /** US dollars as reported by the agent programs; null if none did. */
    costUsd: number | null;
    inputTokens: number | null;
    outputTokens: number | null;
    durationMs: number;
  };
}

/** One test of the selection. */
export interface ReportTest extends Omit<TestState, 'rerunIds'> {
  /** The last of `causeIds`, or null. */
  causeId: string | null;
}

/** One root cause and what was done about it. */
export interface ReportCause extends Omit<CauseSummary, 'tests'> {
  tests: readonly string[];
  verdict: CauseVerdict;
  reason: string;
  attempts: ReportAttempt[];
  /** The sums of the costs (US dollars) and tokens that its agents report; null if none does. */
  costUsd: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** The change that broke its lead test, with its lines (BL-3); absent if none was found. */
  blame?: Blame;
  /** The runs that a heal rests on (HN-5); empty if there is none. */
  proof: Proof;
  /** The proof of each of its tests, if there is more than one (HL-6). */
  testProofs?: readonly TestProof[];
}

/** One attempt at a cause. */
export interface ReportAttempt extends Omit<Attempt, 'usage'>, Omit<AgentUsage, 'turns'> {
  cut: readonly Cut[];
  notes: readonly Note[];
}

/** A question to a person. */
export interface ReportEscalation {
  id: string;
  /** Whether `id` is its id in the store and for `self-heal escalations`. */
  stored: boolean;
  causeId: string;
  state: 'pending';
  question: string;
}
