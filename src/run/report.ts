import type { AgentClaim, Attempt, FileChange, Judgement } from '../core/attempt.js';
import type { Blame } from '../core/blame.js';
import type { Avoided } from '../core/avoided.js';
import type { Note } from '../core/guard/note.js';
import type { Violation } from '../core/guard/violation.js';
import type { Category, Reason } from '../core/diagnosis.js';
import type { Proof, TestProof } from '../core/proof.js';
import type { VerifyLevel } from '../core/settings.js';
import type { CauseVerdict, Outcome, Verdict } from '../core/verdict.js';

/** `report.json`: what a run came to. Other programs read it; a change of meaning is a new `schemaVersion`. */
export interface Report {
  schemaVersion: 2;
  runId: string;
  project: string;
  startedAt: string;
  outcome: Outcome;
  exitCode: number;
  /** Why no further agent was started, where the outcome is `paused` (ME-2). */
  status?: 'escalation_threshold_exceeded';
  /** The run that this one went on with (`self-heal resume`). */
  resumedFrom?: string;
  /** The commit that it ran on; null where something was not committed. */
  commit: string | null;
  /** The shards whose tests these are, run on other machines (`self-heal heal --from`), and the numbers of those that are missing. */
  shards?: { total: number; missing: number[] };
  /** Self-heal only gathered and classified (`--dry-run`). */
  dryRun: boolean;
  tests: ReportTest[];
  causes: ReportCause[];
  escalations: ReportEscalation[];
  /** How much of a proof was asked for. */
  verify: VerifyLevel;
  /** The tests around the fixes, run again after healing (HN-6); null where that was not done. */
  regression: { tests: number; leftOut: number; broke: { causeId: string; tests: string[] }[] } | null;
  warnings: string[];
  totals: {
    tests: number;
    passed: number;
    flaky: number;
    healed: number;
    /** Green with a fix that was not proven (`verify: none`). */
    greenOnce: number;
    failed: number;
    notRun: number;
    /** Playwright runs, the first one included. */
    playwrightRuns: number;
    agentRuns: number;
    agentRunsAvoided: number;
    /** Why they were, each reason once; their counts add up to it. */
    avoided: readonly Avoided[];
    /** US dollars as the agent programs report them; null where none did. */
    costUsd: number | null;
    inputTokens: number | null;
    outputTokens: number | null;
    durationMs: number;
  };
}

/** One test of the selection. */
export interface ReportTest {
  id: string;
  title: readonly string[];
  /** Relative to the project's root, with `/`. */
  file: string;
  line: number;
  project: string;
  verdict: Verdict;
  /** In the first run; 0 where it did not run then. */
  durationMs: number;
  /** Re-runs after agents' work. */
  retries: number;
  /** The last of `causeIds`, or null. */
  causeId: string | null;
  causeIds: readonly string[];
  sharedFix: boolean;
}

/** One root cause and what was done about it. */
export interface ReportCause {
  id: string;
  signature: string;
  category: Category;
  alternatives: readonly Category[];
  confidence: number;
  warning: string | null;
  headline: string;
  /** The first frame of the user's own code, `src/cart.ts:12:5`; null where no stack says it. */
  source: string | null;
  why: readonly Reason[];
  tests: readonly string[];
  parent: string | null;
  verdict: CauseVerdict;
  reason: string;
  attempts: ReportAttempt[];
  /** What its agents report of money and tokens together; null where none says. */
  costUsd: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** The change that broke its leading test, with its lines (BL-3); absent where none was found. */
  blame?: Blame;
  /** The runs that a heal rests on (HN-5); empty where there is none. */
  proof: Proof;
  /** The same for each of its tests, where a heal has more than one (HL-6). */
  testProofs?: readonly TestProof[];
  /** Relative to the run's folder: context.json, prompt.md, screenshot … */
  evidence: string;
}

/** One attempt at a cause. */
export interface ReportAttempt {
  n: number;
  agent: string | null;
  slashCommand: string | null;
  runner: string | null;
  outcome: string;
  judged: Judgement;
  claim: AgentClaim | null;
  durationMs: number;
  costUsd: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  sessionId: string | null;
  files: readonly FileChange[];
  /** Relative to the run's folder. */
  patch: string | null;
  /** Relative to the run's folder; null without an agent. */
  prompt: string | null;
  /** Names the change in the run's folder (`.self-heal/changes/<run-id>/<id>.json`). */
  change: string | null;
  proof: Proof;
  /** The same for each test of the cause, where it has more than one (HL-6). */
  testProofs?: readonly TestProof[];
  reverted: boolean;
  failedBecause: string | null;
  /** Why the guard rejected it, with the lines (HN-3); empty where it did not. */
  violations: readonly Violation[];
  /** What a reviewer should look at: a locator that was changed and what it finds now, a literal that app and test share. */
  notes: readonly Note[];
}

/** An attempt in the shape of report.json. */
export function reportAttempt({ usage, ...attempt }: Attempt): ReportAttempt {
  return {
    ...attempt,
    violations: attempt.violations ?? [],
    notes: attempt.notes ?? [],
    costUsd: usage?.costUsd ?? null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    sessionId: usage?.sessionId ?? null,
  };
}

/** A question to a person. */
export interface ReportEscalation {
  id: string;
  /** The store has it, and `self-heal escalations` knows it by this id. */
  stored: boolean;
  causeId: string;
  state: 'pending';
  question: string;
}
