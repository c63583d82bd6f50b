import type { AgentError } from './core/agent-error.js';
import type { AvoidedReason } from './core/avoided.js';
import type { Blame } from './core/blame.js';
import type { Attempt } from './core/attempt.js';
import type { Cut } from './core/guard/cut.js';
import type { Violation } from './core/guard/violation.js';
import type { Category, Reason } from './core/diagnosis.js';
import type { TestRef } from './core/failure.js';
import type { Choice } from './core/escalation.js';
import type { Proof, TestProof } from './core/proof.js';
import type { EarlierFix } from './core/remembered.js';
import type { VerifyLevel } from './core/settings.js';
import type { CauseVerdict, Outcome, Verdict } from './core/verdict.js';

/**
 * Everything that happens in a run, as one typed stream: reporters render it, and `events.ndjson` stores it. Start here to learn what
 * self-heal does. Times are milliseconds since the epoch and are added by the bus.
 */
export type Event =
  | {
      type: 'run.started';
      runId: string;
      project: string;
      playwright: string;
      dryRun: boolean;
      /** The requested level of proof. */
      verify: VerifyLevel;
      /** The shards that ran these tests, and the numbers of those that are missing; absent if the suite runs here. */
      shards?: { total: number; missing: readonly number[] };
      /** The command as typed. `resume` uses it if the run was killed before it was stored (ME-8). */
      request?: RunAsked;
      /** The run that this one continues. */
      resumedFrom?: string;
    }
  /** A Playwright run begins: the first one, a confirming one, or one after an attempt. */
  | {
      type: 'suite.started';
      purpose: SuitePurpose;
      tests: number | null;
      causeId: string | null;
      /** The number of the Playwright run, counted from 1; absent for one that reports tell of. */
      n?: number;
      /** How many runs are expected; null if unknown. */
      of?: number | null;
      /** Expected duration in milliseconds; null if nothing has been measured yet. */
      likelyMs?: number | null;
    }
  | { type: 'suite.progress'; done: number; total: number; failed: number; test: string }
  | {
      type: 'suite.ended';
      purpose: SuitePurpose;
      causeId: string | null;
      total: number;
      passed: number;
      failed: number;
      flaky: number;
      skipped: number;
      notRun: number;
      durationMs: number;
    }
  /** Playwright's reports of other runs were read instead of a first run here (SC-1). */
  | { type: 'reports.read'; total: number; missing: number[] }
  /** Tests that had not run before, as a Playwright run showed them. After the first run, this is the whole selection. */
  | { type: 'tests.seen'; tests: readonly SeenTest[] }
  /** The final status of these tests, unless a later event decides them again (HN-7); `sharedFix` if a fix made for another test healed them. */
  | { type: 'tests.decided'; ids: readonly string[]; verdict: Verdict; sharedFix?: boolean }
  | { type: 'cause.found'; cause: CauseSummary }
  /** An earlier fix healed some of the cause's tests; these are the rest (HL-6). */
  | { type: 'cause.narrowed'; cause: CauseSummary }
  | { type: 'cause.flaky'; tests: TestRef[]; causeId: string | null }
  /** Runs with changes reverted have shown which change broke the cause's leading test (BL-1). */
  | { type: 'cause.blamed'; causeId: string; blame: Blame }
  /** Why no change is blamed; `causeId` is null if the reason applies to all causes. */
  | { type: 'blame.ended'; causeId: string | null; reason: string }
  | { type: 'cause.started'; causeId: string }
  /** The built-in fixer made a fix, or an agent's fix from a killed run is tried again; it is judged like an agent's (BF-1). */
  | { type: 'fixer.proposed'; causeId: string; attempt: number; summary: string; agent: string }
  | {
      type: 'agent.started';
      causeId: string;
      attempt: number;
      agent: string;
      slashCommand: string;
      runner: string;
      timeoutMs: number;
      pid: number | null;
      /** Relative to the project. */
      logFile: string;
    }
  /** The latest text or action of the agent, at most ten times a second. */
  | { type: 'agent.activity'; causeId: string; text: string }
  | {
      type: 'agent.ended';
      causeId: string;
      attempt: number;
      outcome: Attempt['outcome'];
      durationMs: number;
      costUsd: number | null;
      /** The program's own error (AG-6), or null. */
      agentError: AgentError | null;
      filesChanged: number;
      /** Processes that outlived it and were ended, as `pid command`. */
      orphans: readonly string[];
    }
  /** Waiting before the next attempt (HL-4). */
  | { type: 'agent.retrying'; causeId: string; attempt: number; delayMs: number; reason: string }
  /** A question to a person; the run does not wait for the answer. The id is null if it could not be stored. */
  | { type: 'agent.waiting_for_input'; causeId: string; question: string; escalationId: string | null }
  /** A person answered; written to the events of the run that asked. */
  | { type: 'agent.escalation_resolved'; escalationId: string; choice: Choice }
  /** A failure that an earlier run healed has come back. */
  | { type: 'cause.came_back'; causeId: string; fix: EarlierFix }
  /** These tests are red, and a person has accepted that for now (ME-7). */
  | { type: 'tests.quarantined'; tests: TestRef[] }
  /** Agents that red tests might have needed, and that were not started. */
  | { type: 'agent.avoided'; reason: AvoidedReason; count: number }
  /** Too many escalations are pending, so no further agent is started. */
  | { type: 'agent.build_paused'; status: 'escalation_threshold_exceeded' }
  /** The guard found that an agent weakened the tests. Its change is dropped without running anything (HN-3). */
  /** Files that the agent changed do not enter the project; the rest of its change is tried (HN-4). */
  | { type: 'attempt.cut'; causeId: string; attempt: number; cut: readonly Cut[] }
  | { type: 'attempt.rejected'; causeId: string; attempt: number; violations: readonly Violation[] }
  /**
   * The re-run after the fix was green, or showed another error (`error`; else null). The change stays until the proof decides (HN-5, HN-1), and a
   * run that continues this one begins with it.
   */
  | {
      type: 'attempt.held';
      causeId: string;
      attempt: number;
      agent: string | null;
      change: string | null;
      error: string | null;
    }
  | { type: 'attempt.judged'; causeId: string; attempt: Attempt }
  | {
      type: 'cause.ended';
      causeId: string;
      verdict: CauseVerdict;
      reason: string;
      attempts: number;
      costUsd: number | null;
      /** Set if the fix of another cause healed it, since it then has no attempt to which the proof belongs. */
      proof?: Proof;
      /** The proof of each of its tests, if there is more than one. */
      testProofs?: readonly TestProof[];
    }
  /** The tests around the kept fixes ran once more; fixes that broke any of them were reverted (HN-6). */
  | ({ type: 'regression.ended' } & RegressionResult)
  /** After the run, a person undid its changes; `leftAlone` lists files that had changed again and were not restored. */
  | { type: 'run.undone'; restored: readonly string[]; leftAlone: readonly string[] }
  /** The run continues, but somebody should know. */
  | { type: 'run.warning'; message: string }
  /** The run cannot continue, for example because its browser is not installed; no `run.ended` follows. */
  | { type: 'run.stopped'; message: string }
  | {
      type: 'run.ended';
      outcome: Outcome;
      exitCode: number;
      durationMs: number;
      agentRuns: number;
      agentRunsAvoided: number;
      costUsd: number | null;
      /** The commit it ran on; null if there were uncommitted changes. */
      commit: string | null;
    };

/** A test as shown by the first Playwright run that included it. */
export interface SeenTest {
  id: string;
  title: readonly string[];
  /** Relative to the project's root, with forward slashes. */
  file: string;
  line: number;
  project: string;
  verdict: Verdict;
  /** 0 if it did not run. */
  durationMs: number;
  /** Re-runs after an agent had worked, in the run that this one continues; absent if it continues none. */
  retries?: number;
  /** Healed in that run by a fix that was made for another test (HL-6). */
  sharedFix?: boolean;
}

/** The results of running the tests around the fixes once more. */
export interface RegressionResult {
  /** How many tests ran. */
  tests: number;
  /** How many tests there was no time for. */
  leftOut: number;
  /** Fixes that broke green tests, with the ids of those tests. */
  broke: readonly { causeId: string; tests: readonly string[] }[];
}

/** A run as typed: filters, arguments passed on to Playwright, and options by their long names. */
export interface RunAsked {
  readonly filters: readonly string[];
  readonly passThrough: readonly string[];
  readonly options: object;
}

/** Why Playwright is run. */
export type SuitePurpose =
  'first' | 'confirm' | 'blame' | 'retest' | 'other-input' | 'proof' | 'shared-fix' | 'regression';

/** A cause, as described by the events and the report. */
export interface CauseSummary {
  id: string;
  signature: string;
  category: Category;
  alternatives: readonly Category[];
  why: readonly Reason[];
  confidence: number;
  tests: readonly TestRef[];
  /** The first line of the leading failure's message. */
  headline: string;
  /** The first frame of the user's own code, `src/cart.ts:12:5`; null if no stack shows it. */
  source: string | null;
  parent: string | null;
  warning: string | null;
  /** The folder of its leading failure, relative to the run's: context.json, prompt.md, screenshot … */
  evidence: string;
}

/** An event with the time it was emitted at, in milliseconds since the epoch. */
export type StampedEvent = Event & { time: number };
