import type { Proof, TestProof } from './proof.js';
import type { Note } from './guard/note.js';
import type { Violation } from './guard/violation.js';

/** What an agent says about its own work; only the re-run decides whether it is true. */
export interface AgentClaim {
  readonly status: 'fixed' | 'not-fixed' | 'needs-person';
  readonly summary: string;
}

/** What an agent program reports about itself; null if it does not. */
export interface AgentUsage {
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly turns: number | null;
  readonly sessionId: string | null;
}

/** How one agent process ended. Running an agent never throws for an agent that misbehaves. */
export type AgentEnding =
  /** Exited with 0, or signalled completion and was then stopped by us. */
  | { readonly kind: 'completed' }
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly afterMs: number }
  | { readonly kind: 'spawn-failed'; readonly reason: string }
  /** We were interrupted. */
  | { readonly kind: 'aborted' }
  /** It reached its own limit of turns or money; what it did until then may still hold. */
  | { readonly kind: 'limited'; readonly reason: string }
  /** Waiting helps: rate limited, overloaded, the connection dropped (AG-7); `waitMs` where its provider says for how long. */
  | { readonly kind: 'retryable'; readonly reason: string; readonly waitMs?: number }
  /** Its input is too long for its model (AG-7). */
  | { readonly kind: 'context-overflow'; readonly reason: string }
  /** The program cannot work at all here: not logged in, no credit, unknown model. The remedy says what a person must do. */
  | { readonly kind: 'unusable'; readonly reason: string; readonly remedy: string };

/** One agent process, from start to end. */
export interface AgentRun {
  readonly ending: AgentEnding;
  readonly claim: AgentClaim | null;
  readonly usage: AgentUsage;
  /** Tool calls that the program refused, as it names them. */
  readonly denials: readonly string[];
  readonly durationMs: number;
  /** The last lines of its output, for the report; all of it is in its log file. */
  readonly tail: string;
  /** Processes that outlived it and had to be stopped, as `pid command`. */
  readonly orphans: readonly string[];
}

/** How an attempt's agent ended, in one word (`AgentEnding` joined with what happened to the files). */
export type AgentOutcome =
  | 'completed'
  | 'exited'
  | 'signalled'
  | 'timed-out'
  | 'spawn-failed'
  | 'aborted'
  | 'limited'
  | 'unusable'
  | 'unchanged'
  | 'denied';

/**
 * What the re-runs say about an attempt: the same failure, another one, none, or the test was not there to run (HL-10). `flaky`: green,
 * but not by what the agent changed (HN-5). `rejected`: the guard says that it weakened the tests, and nothing was run with it (HN-3). `conflict`:
 * the same lines were changed in the project while the agent worked, so that it could not be applied (HN-1).
 */
export type Judgement =
  'still-failing' | 'changed' | 'green' | 'flaky' | 'vanished' | 'rejected' | 'conflict' | 'not-judged';

/** One agent run, or one re-run without an agent, and the re-run that judges it. */
export interface Attempt {
  /** From 1, within the cause. */
  readonly n: number;
  /** Null for a re-run without an agent (HL-5, AG-5). */
  readonly agent: string | null;
  readonly slashCommand: string | null;
  readonly runner: string | null;
  readonly outcome: AgentOutcome | 'no-agent';
  readonly claim: AgentClaim | null;
  readonly usage: AgentUsage | null;
  readonly judged: Judgement;
  readonly durationMs: number;
  /** Paths relative to the project, with lines added and removed; null for binary files. */
  readonly files: readonly FileChange[];
  /** Path of the patch, relative to the run's folder, or null. */
  readonly patch: string | null;
  /** Path of the prompt that the agent got, relative to the run's folder; null without an agent. */
  readonly prompt: string | null;
  /** Names the change within its run (`.self-heal/changes/<run-id>/<id>.json`); null if it changed nothing that could be applied. */
  readonly change: string | null;
  /** The runs that the heal rests on (HN-5); empty if there is none. */
  readonly proof: Proof;
  /** The same for each test of the cause, if there is more than one (HL-6). */
  readonly testProofs?: readonly TestProof[];
  readonly reverted: boolean;
  /** Why it failed, in a line, for the next agent and the report; null when it held. */
  readonly failedBecause: string | null;
  /** What the guard found in it; absent if nothing. */
  readonly violations?: readonly Violation[];
  /** What a reviewer should look at in a change that was not rejected; absent if nothing. */
  readonly notes?: readonly Note[];
}

/** An attempt without an agent, not judged yet. */
export function bareAttempt(n: number): Attempt {
  return {
    n,
    agent: null,
    slashCommand: null,
    runner: null,
    outcome: 'no-agent',
    claim: null,
    usage: null,
    judged: 'not-judged',
    durationMs: 0,
    files: [],
    patch: null,
    prompt: null,
    change: null,
    proof: [],
    reverted: false,
    failedBecause: null,
  };
}

/** Whether the change of an attempt is in the project: the re-run was green, or led to another error, and it was not reverted since. */
export function isKept({ judged, reverted }: Pick<Attempt, 'judged' | 'reverted'>): boolean {
  return !reverted && (judged === 'green' || judged === 'changed');
}

/** One file that an agent changed. */
export interface FileChange {
  readonly path: string;
  readonly added: number | null;
  readonly removed: number | null;
}
