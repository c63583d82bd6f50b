import type { AgentClaim, Attempt, FileChange, Judgement } from '../core/attempt.js';
import type { Blame } from '../core/blame.js';
import type { Avoided } from '../core/avoided.js';
import type { Note } from '../core/guard/note.js';
import type { Violation } from '../core/guard/violation.js';
import type { Category, Reason } from '../core/diagnosis.js';
import type { Proof, TestProof } from '../core/proof.js';
import type { VerifyLevel } from '../core/settings.js';
import type { CauseVerdict, Outcome, Verdict } from '../core/verdict.js';

/** `report.json`: the result of a run. Other programs read it; a change of meaning is a new `schemaVersion`. */
export interface Report {
  schemaVersion: 2;
  runId: string;
  project: string;
  startedAt: string;
  outcome: Outcome;
  exitCode: number;
  /** Why no further agent was started, if the outcome is `paused` (ME-2). */
  status?: 'escalation_threshold_exceeded';
  /** The run that this one continued (`self-heal resume`). */
  resumedFrom?: string;
  /** The commit it ran on; null if there were uncommitted changes. */
  commit: string | null;
  /** The shards whose tests these are, run on other machines (`self-heal heal --from`), and the numbers of those that are missing. */
  shards?: { total: number; missing: number[] };
  /** Only gathered evidence and classified (`--dry-run`). */
  dryRun: boolean;
  tests: ReportTest[];
  causes: ReportCause[];
  escalations: ReportEscalation[];
  /** The level of proof that was asked for. */
  verify: VerifyLevel;
  /** The tests around the fixes, run again after healing (HN-6); null if that was not done. */
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
    /** Playwright runs, including the first one. */
    playwrightRuns: number;
    agentRuns: number;
    agentRunsAvoided: number;
    /** The reasons, each once; their counts add up to the number above. */
    avoided: readonly Avoided[];
    /** US dollars as reported by the agent programs; null if none did. */
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
  /** In the first run; 0 if it did not run then. */
  durationMs: number;
  /** Re-runs after an agent had worked. */
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
  /** The first frame of the user's own code, `src/cart.ts:12:5`; null if no stack shows it. */
  source: string | null;
  why: readonly Reason[];
  tests: readonly string[];
  parent: string | null;
  verdict: CauseVerdict;
  reason: string;
  attempts: ReportAttempt[];
  /** The sum of what its agents report about money and tokens; null if none does. */
  costUsd: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** The change that broke its leading test, with its lines (BL-3); absent if none was found. */
  blame?: Blame;
  /** The runs that a heal rests on (HN-5); empty if there is none. */
  proof: Proof;
  /** The same for each of its tests, if there is more than one (HL-6). */
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
  /** The same for each test of the cause, if there is more than one (HL-6). */
  testProofs?: readonly TestProof[];
  reverted: boolean;
  failedBecause: string | null;
  /** Why the guard rejected it, with the lines (HN-3); empty if it did not. */
  violations: readonly Violation[];
  /** What a reviewer should look at: a changed locator and what it matches now, or a literal that appears in both app and test. */
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
  /** Its id in the store and for `self-heal escalations`. */
  stored: boolean;
  causeId: string;
  state: 'pending';
  question: string;
}
