import type { Attempt } from '../core/attempt.js';
import type { AvoidedReason } from '../core/avoided.js';
import type { TestRef } from '../core/failure.js';
import type { VerifyLevel } from '../core/settings.js';
import type {
  CauseSummary,
  Event,
  RegressionResult,
  RunAsked,
  SeenTest,
  StampedEvent,
  WorkerSummary,
} from '../event.js';

/** The event of a type. */
export type Of<T extends Event['type']> = Extract<StampedEvent, { type: T }>;

/** A run as told by its events: everything shown about a run, live or later, is made from this. Times are milliseconds since the epoch. */
export interface RunState {
  readonly runId: string;
  readonly project: string;
  readonly dryRun: boolean;
  /** What was typed; null if an older run does not say. */
  readonly request: RunAsked | null;
  readonly resumedFrom: string | null;
  readonly verify: VerifyLevel;
  readonly shards: Of<'run.started'>['shards'] | null;
  /** Null before the first event. */
  readonly startedAt: number | null;
  readonly lastEventAt: number | null;
  /** How the first Playwright run ended; null before. */
  readonly first: Of<'suite.ended'> | null;
  /** Tests of the Playwright run that is under way; null between two, or where their number is not known. */
  readonly progress: { readonly done: number; readonly total: number } | null;
  /** Work that is not for a single cause; null while there is only work for single causes. */
  readonly phase: Phase | null;
  /** The cause whose phase began last; null if it was a phase of the run. */
  readonly latest: string | null;
  /** By their ids, in the order in which they were first seen. */
  readonly tests: ReadonlyMap<string, TestState>;
  /** In the order in which they were found. */
  readonly causes: readonly CauseState[];
  /** Suite runs, agents and waits, in the order in which they began. */
  readonly spans: readonly SpanState[];
  readonly agentRuns: number;
  /** Agents that were not started, by the reason. */
  readonly avoided: ReadonlyMap<AvoidedReason, number>;
  /** Too many questions are waiting for people. */
  readonly paused: boolean;
  readonly regression: RegressionResult | null;
  /** US dollars; null if no agent program reports any. */
  readonly costUsd: number | null;
  /** Those on other machines; empty in most runs. */
  readonly workers: readonly WorkerSummary[];
  readonly warnings: readonly string[];
  readonly flaky: readonly TestRef[];
  readonly quarantined: readonly TestRef[];
  /** Null while it is running, and if it was killed. */
  readonly ended: Of<'run.ended'> | null;
  /** Blamed changes that a person has had reverted since, and which `undo` restores. */
  readonly reverted: readonly string[];
  /** Everything it changed has been reverted since. */
  readonly undone: boolean;
}

/** One test of the selection. */
export interface TestState extends Required<SeenTest> {
  /** Of the causes that it belonged to when they were found. */
  readonly causeIds: readonly string[];
}

/** One cause. */
export interface CauseState {
  readonly summary: CauseSummary;
  /** Null while it waits for its turn. */
  readonly startedAt: number | null;
  /** Null while it waits for its turn, and when it has ended. */
  readonly phase: Phase | null;
  /** By their numbers, from 1. */
  readonly attempts: readonly AttemptState[];
  /** What happened beside its attempts. */
  readonly asides: readonly Aside[];
  readonly costUsd: number | null;
  readonly ended: Of<'cause.ended'> | null;
}

/** One attempt: under way until it is judged. */
export interface AttemptState {
  readonly n: number;
  /** Null for a re-run without an agent, whose first event is its judgement. */
  readonly started: Of<'agent.started'> | null;
  readonly ended: Of<'agent.ended'> | null;
  /** Its re-run was green; null before, and for the attempts that no proof follows. */
  readonly green: Of<'attempt.green'> | null;
  readonly judged: Attempt | null;
}

/** An event of a cause that is told beside its attempts. */
export type Aside = Of<'agent.retrying' | 'agent.waiting_for_input' | 'cause.came_back' | 'cause.blamed'>;

/** What is being done. */
export interface Phase {
  /** The event it began with; it lasts until the next phase. */
  readonly since: PhaseEvent;
  /** The latest news: what the agent did, which test is running. */
  readonly doing: string;
}

/** An event with which something else begins. */
export type PhaseEvent = Of<
  | 'suite.started'
  | 'suite.ended'
  | 'cause.started'
  | 'cause.sent'
  | 'cause.taken'
  | 'agent.started'
  | 'agent.ended'
  | 'attempt.green'
  | 'agent.retrying'
>;

/** A stretch of a run: Playwright at work, an agent at work, or a wait. */
export interface SpanState {
  readonly kind: 'suite' | 'agent' | 'wait';
  readonly since: Of<'suite.started' | 'agent.started' | 'agent.retrying'>;
  /** Null while it lasts. */
  readonly to: number | null;
  /** US dollars, where an agent program reported them. */
  readonly costUsd: number | null;
}

/** A run about which nothing is known yet. */
export function emptyRun(runId = ''): RunState {
  return {
    runId,
    project: '',
    dryRun: false,
    request: null,
    resumedFrom: null,
    verify: 'full',
    shards: null,
    startedAt: null,
    lastEventAt: null,
    first: null,
    progress: null,
    phase: null,
    latest: null,
    tests: new Map(),
    causes: [],
    spans: [],
    agentRuns: 0,
    avoided: new Map(),
    paused: false,
    regression: null,
    costUsd: null,
    workers: [],
    warnings: [],
    flaky: [],
    quarantined: [],
    ended: null,
    reverted: [],
    undone: false,
  };
}
