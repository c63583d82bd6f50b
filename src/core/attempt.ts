import type { Proof, TestProof } from './proof.js';
import type { Cut } from './guard/cut.js';
import type { Note } from './guard/note.js';
import type { Violation } from './guard/violation.js';
import type { Opinion } from './opinion.js';

/** What an agent says about its own work; only the re-run decides whether it is true. */
export interface AgentClaim {
  readonly status: 'fixed' | 'not-fixed' | 'needs-person';
  readonly summary: string;
}

/** What an agent program reports about its own usage; null for whatever it does not report. */
export interface AgentUsage {
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly turns: number | null;
  readonly sessionId: string | null;
}

/** How one agent process ended. However an agent misbehaves, the result is an end, never an exception. */
export type AgentEnd =
  /** Exited with 0, or signaled completion and was then stopped by self-heal. */
  | { readonly kind: 'completed' }
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly afterMs: number }
  | { readonly kind: 'spawn-failed'; readonly reason: string }
  /** Self-heal was interrupted. */
  | { readonly kind: 'aborted' }
  /** Reached its own limit of turns or cost; what it did until then may still work. */
  | { readonly kind: 'limited'; readonly reason: string }
  /** Waiting helps: rate limited, overloaded, or the connection dropped (AG-7). `waitMs` is set if the provider says how long. */
  | { readonly kind: 'retryable'; readonly reason: string; readonly waitMs?: number }
  /** Its input is too long for its model (AG-7). */
  | { readonly kind: 'context-overflow'; readonly reason: string }
  /** The program cannot work here at all: not logged in, no credit, unknown model. `remedy` says what a person must do. */
  | { readonly kind: 'unusable'; readonly reason: string; readonly remedy: string };

/** One agent process, from start to end. */
export interface AgentRun {
  readonly end: AgentEnd;
  readonly claim: AgentClaim | null;
  /** Its answer, if it was asked about a fix. */
  readonly opinion?: Opinion;
  readonly usage: AgentUsage;
  /** Edits that the program refused, as it names them. */
  readonly denials: readonly string[];
  readonly durationMs: number;
  /** The last lines of its output, for the report; all of it is in its log file. */
  readonly tail: string;
  /** Processes that outlived it and had to be stopped, as `pid command`. */
  readonly orphans: readonly string[];
}

/** How an attempt's agent ended, in one word (`AgentEnd` joined with what happened to the files). */
export const agentOutcomes = [
  'completed',
  'exited',
  'signalled',
  'timed-out',
  'spawn-failed',
  'aborted',
  'limited',
  'unusable',
  'unchanged',
  'denied',
  /** A re-run without an agent. */
  'no-agent',
] as const;

/** One of `agentOutcomes`, of an agent. */
export type AgentOutcome = Exclude<(typeof agentOutcomes)[number], 'no-agent'>;

/**
 * What the re-runs say about an attempt: the same failure, another one, none, or the test no longer ran (HL-10). `flaky`: green, but
 * not because of the agent's change (HN-5). `rejected`: it does what is honest in no fix (HN-3), or a second
 * opinion that it hides the fault (HN-11).
 * `conflict`: the same lines changed in the project while the agent worked, so the patch could not be applied (HN-1). `offered`: green, but
 * only a person can say whether it is right, so it waits for one, with its proof (BL-6).
 */
export const judgements = [
  'still-failing',
  'changed',
  'green',
  'flaky',
  'vanished',
  'rejected',
  'conflict',
  'not-judged',
  'offered',
] as const;

/** One of `judgements`. */
export type Judgement = (typeof judgements)[number];

/** Who is right, the app or the tests, if a patch that is offered to a person is applied; `whole` has what no agent may change. */
export const sides = ['tests', 'app', 'whole'] as const;

/** One of `sides`. */
export type Side = (typeof sides)[number];

/** One agent run, or one re-run without an agent, together with the re-run that judges it. */
export interface Attempt {
  /** Counted from 1 within the cause. */
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
  /** Id of the change within its run (`.self-heal/changes/<run-id>/<id>.json`); null if there was nothing to apply. */
  readonly change: string | null;
  /** The runs that the heal rests on (HN-5); empty if there is none. */
  readonly proof: Proof;
  /** The proof of each test of the cause, if there is more than one (HL-6). */
  readonly testProofs?: readonly TestProof[];
  readonly reverted: boolean;
  /** Set if it is judged `offered`: who is right if it is applied. */
  readonly offers?: Side;
  /** Why it failed, in one line, for the next agent and the report; null if it held. */
  readonly failedBecause: string | null;
  /** What a person has to do, if its program cannot work. */
  readonly remedy?: string;
  /** What was left out of its change before it was tried; absent if nothing was. */
  readonly cut?: readonly Cut[];
  /** What the guard found in it; absent if it found nothing. */
  readonly violations?: readonly Violation[];
  /** What a reviewer should look at in a change that was not rejected; absent if there is nothing. */
  readonly notes?: readonly Note[];
}

/** Creates an attempt without an agent, not yet judged. */
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

/** Whether an attempt's change is in the project: its re-run was green or led to another error, and it has not been reverted since. */
export function isKept({ judged, reverted }: Pick<Attempt, 'judged' | 'reverted'>): boolean {
  return !reverted && (judged === 'green' || judged === 'changed');
}

/** One file that an agent changed. */
export interface FileChange {
  readonly path: string;
  readonly added: number | null;
  readonly removed: number | null;
}
