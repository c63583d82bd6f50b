import type { AgentError } from './core/agent-error/classify-agent-error.js';
import type { Blame } from './core/blame.js';
import type { Attempt } from './core/attempt.js';
import type { Violation } from './core/guard/violation.js';
import type { Category, Reason } from './core/diagnosis.js';
import type { TestRef } from './core/failure.js';
import type { Choice } from './core/escalation.js';
import type { EarlierFix } from './core/remembered.js';
import type { CauseVerdict, Outcome } from './core/verdict.js';

/**
 * Everything that happens in a run, as one typed stream: reporters render it, `events.ndjson` keeps it. Start here to
 * learn what self-heal does. Times are milliseconds since the epoch and are added by the bus.
 */
export type Event =
  | {
      type: 'run.started';
      runId: string;
      project: string;
      cwd: string;
      playwright: string;
      dryRun: boolean;
      /** What was typed: `resume` goes on with it where the run was killed before the store knew of it (ME-8). */
      request?: RunAsked;
      /** The run that this one goes on with. */
      resumedFrom?: string;
    }
  /** A Playwright run begins: the first one, a confirming one, or one after an attempt. */
  | {
      type: 'suite.started';
      purpose: SuitePurpose;
      tests: number | null;
      causeId: string | null;
      /** Which of the Playwright runs it is, from 1; absent for what shards ran. */
      n?: number;
      /** How many there are likely to be; null while nothing is known. */
      of?: number | null;
      /** What it is likely to take, in milliseconds; null where nothing was measured yet. */
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
  /** What the shards of the suite ran on other machines was read, in place of a first run here (SC-1). */
  | { type: 'shards.joined'; total: number; missing: number[] }
  | { type: 'cause.found'; cause: CauseSummary }
  | { type: 'cause.flaky'; tests: TestRef[]; causeId: string | null }
  /** The change that broke its leading test was found, by runs with changes taken out (BL-1). */
  | { type: 'cause.blamed'; causeId: string; blame: Blame }
  /** Why no change is named; null for what holds for all causes. */
  | { type: 'blame.ended'; causeId: string | null; reason: string }
  | { type: 'cause.started'; causeId: string }
  /** It is in the queue, for a worker on whatever machine (SC-2). */
  | { type: 'cause.sent'; causeId: string }
  /** A worker has taken it. */
  | { type: 'cause.taken'; causeId: string; worker: string }
  /** The workers of the project, each time that anything changes with one of them. */
  | { type: 'workers.seen'; workers: readonly WorkerSummary[] }
  /** The built-in fixer is sure of a fix, which is now judged like an agent's (BF-1); or an agent's fix of a killed run is taken up again. */
  | { type: 'fixer.proposed'; causeId: string; attempt: number; summary: string; agent?: string }
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
  /** The last thing that the agent said or did, at most ten times a second. */
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
  /** Waiting before the next try (HL-4). */
  | { type: 'agent.retrying'; causeId: string; attempt: number; delayMs: number; reason: string }
  /** A question to a person; the run does not wait for the answer. The id is null where the store did not take it. */
  | { type: 'agent.waiting_for_input'; causeId: string; question: string; escalationId: string | null }
  /** A person answered; written into the run that had asked. */
  | { type: 'agent.escalation_resolved'; escalationId: string; choice: Choice }
  /** A failure that an earlier run had healed is there again. */
  | { type: 'cause.came_back'; causeId: string; fix: EarlierFix }
  /** These tests are red, and a person has accepted that for now (ME-7). */
  | { type: 'tests.quarantined'; tests: TestRef[] }
  /** So many questions wait for people that no further agent is started. */
  | { type: 'agent.build_paused'; status: 'escalation_threshold_exceeded' }
  /** The guard found that an agent weakened the tests: its change is reverted, and nothing is run with it (HN-3). */
  | { type: 'attempt.rejected'; causeId: string; attempt: number; violations: readonly Violation[] }
  /** The re-run after it was green; its fix is still to be proven, together with the others (HN-5). */
  /** Green once: its change is kept, and a run that goes on with this one begins with it. Older runs say neither agent nor change. */
  | {
      type: 'attempt.green';
      causeId: string;
      attempt: number;
      agent?: string | null;
      change?: string | null;
    }
  | { type: 'attempt.judged'; causeId: string; attempt: Attempt }
  | {
      type: 'cause.ended';
      causeId: string;
      verdict: CauseVerdict;
      reason: string;
      attempts: number;
      costUsd: number | null;
    }
  /** A person had the change to blame taken out of the project, after the run's end (BL-4); `change` names it within the run. */
  | { type: 'change.reverted'; causeId: string; change: string }
  /** A person reverted what the run had changed, after its end; these files changed again meanwhile, and stay. */
  | { type: 'run.undone'; restored: readonly string[]; leftAlone: readonly string[] }
  /** The run goes on, but somebody should know. */
  | { type: 'run.warning'; message: string }
  | {
      type: 'run.ended';
      outcome: Outcome;
      exitCode: number;
      durationMs: number;
      agentRuns: number;
      agentRunsAvoided: number;
      costUsd: number | null;
    };

/** A run as it was typed: filters, what is passed on to Playwright, and the options by their long names. */
export interface RunAsked {
  readonly filters: readonly string[];
  readonly passThrough: readonly string[];
  readonly options: object;
}

/** A `self-heal worker`, on this machine or another. */
export interface WorkerSummary {
  /** Machine and process. */
  readonly name: string;
  readonly state: 'waiting' | 'healing' | 'agent';
  /** In this state, in milliseconds since the epoch, by its own clock. */
  readonly since: number;
  readonly causeId: string | null;
  /** Why it takes none of the run's causes (another commit, say); null where it does. */
  readonly elsewhere: string | null;
}

/** Why Playwright is run. */
export type SuitePurpose =
  'first' | 'confirm' | 'blame' | 'retest' | 'other-input' | 'proof' | 'shared-fix' | 'regression';

/** A cause, as the events and the report name it. */
export interface CauseSummary {
  id: string;
  signature: string;
  category: Category;
  alternatives: readonly Category[];
  why: readonly Reason[];
  confidence: number;
  tests: readonly TestRef[];
  /** The first line of the lead failure's message. */
  headline: string;
  parent: string | null;
  warning: string | null;
}

/** An event with the time it was emitted at, in milliseconds since the epoch. */
export type StampedEvent = Event & { time: number };
