import type { AgentClaim, AgentOutcome, FileChange, Judgement } from '../core/attempt.js';
import type { Blame } from '../core/blame.js';
import type { Diagnosis } from '../core/diagnosis.js';
import type { ConsoleEntry, NetworkEntry, SourceExcerpt } from '../core/evidence.js';
import type { Violation } from '../core/guard/violation.js';
import type { EarlierFix } from '../core/remembered.js';

/**
 * `context.json`, whose path an agent finds in `SELF_HEAL_CONTEXT`: everything known about one failure (AG-2).
 * Paths are absolute unless said otherwise. Other programs read this; a change of meaning is a new `schemaVersion`.
 */
export interface AgentContext {
  schemaVersion: 2;
  runId: string;
  causeId: string;
  /** From 1. */
  attempt: number;
  task: 'Fix this error so the test can pass';
  project: { name: string; root: string };
  /** Null if the suite itself failed before any test. */
  test: ContextTest | null;
  /** The other tests that fail from the same cause. */
  otherTests: ContextTest[];
  failedStep: string | null;
  error: {
    type: string;
    message: string;
    stack: string | null;
    snippet: string | null;
    causes: readonly string[];
  };
  diagnosis: Pick<Diagnosis, 'category' | 'alternatives' | 'confidence' | 'why' | 'facts' | 'warning'>;
  /** The change that broke it, as runs with and without it have shown (BL-3), or null. */
  blame: Blame | null;
  /** The lines around `diagnosis.facts.source`; null if they are not available. */
  source: SourceExcerpt | null;
  screenshot: string | null;
  trace: string | null;
  pageUrl: string | null;
  ariaSnapshot: string | null;
  console: readonly ConsoleEntry[];
  network: readonly NetworkEntry[];
  serverOutput: string;
  /** What could not be gathered, and what was shortened, in words. */
  missing: readonly string[];
  cut: readonly string[];
  /** What a person answered when asked (ME-7), or null. */
  guidance: string | null;
  /** What had healed this failure in an earlier run, and did not last; `patch` is its text. */
  earlierFix: EarlierFix | null;
  /** Including earlier runs. */
  previousAttempts: PreviousAttempt[];
}

/** A test as an agent sees it. */
export interface ContextTest {
  id: string;
  /** Titles joined by ` › `, as Playwright prints them. */
  name: string;
  titlePath: readonly string[];
  /** Relative to the project's root, with `/`. */
  file: string;
  line: number;
  project: string;
}

/** What was tried for the same cause before, and how it ended. */
export interface PreviousAttempt {
  n: number;
  agent: string | null;
  outcome: AgentOutcome | 'no-agent';
  claim: AgentClaim | null;
  files: readonly FileChange[];
  /** The patch, at most 8,000 characters, or null. */
  patch: string | null;
  failedBecause: string | null;
  /** How the re-run judged it. */
  judged: Judgement;
  /** Whether its change was reverted after it had been judged. */
  reverted: boolean;
  /** How it weakened the tests, in which case nothing was run with it (HN-3). */
  violations?: readonly Violation[];
}
