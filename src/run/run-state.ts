import type { Attempt } from '../core/attempt.js';
import type { AvoidedReason } from '../core/avoided.js';
import type { TestRef } from '../core/failure.js';
import type { Count } from '../core/failure-rate.js';
import type { Flake } from '../core/flake.js';
import type { VerifyLevel } from '../core/settings.js';
import type { Verification } from '../core/verification.js';
import type { CauseSummary, EventOf, RegressionResult, RunAsked, SeenTest } from '../event.js';

/** A run as described by its events: everything shown about a run, live or later, is derived from it. Times are milliseconds since the epoch. */
export interface RunState {
  readonly runId: string;
  readonly project: string;
  readonly dryRun: boolean;
  /** The command as typed; null if unknown. */
  readonly request: RunAsked | null;
  readonly resumedFrom: string | null;
  readonly verify: VerifyLevel;
  readonly shards: EventOf<'run.started'>['shards'] | null;
  /** Null before the first event. */
  readonly startedAt: number | null;
  readonly lastEventAt: number | null;
  /** How the first Playwright run ended; null before. */
  readonly first: EventOf<'suite.ended'> | null;
  /** Whether the suite itself failed when it was run for the first time or to confirm that. */
  readonly suiteBroken: boolean;
  /** The progress of the current Playwright run; null between runs, or if its number of tests is not known. */
  readonly progress: { readonly done: number; readonly total: number } | null;
  /** Work that belongs to no single cause; null while there is none. */
  readonly phase: Phase | null;
  /** The cause whose phase began last; null if it was a phase of the run. */
  readonly latest: string | null;
  /** By id, in the order in which they were first seen. */
  readonly tests: ReadonlyMap<string, TestState>;
  /** In the order in which they were found. */
  readonly causes: readonly CauseState[];
  /** Suite runs, agents and waits, in the order in which they began. */
  readonly spans: readonly SpanState[];
  readonly agentRuns: number;
  /** How many agent runs were avoided, by reason. */
  readonly avoided: ReadonlyMap<AvoidedReason, number>;
  /** Whether too many causes are waiting for people. */
  readonly paused: boolean;
  readonly regression: RegressionResult | null;
  /** What `self-heal verify` has shown; null in other runs. */
  readonly verification: Verification | null;
  /** US dollars; null if no agent program reports any. */
  readonly costUsd: number | null;
  readonly warnings: readonly string[];
  readonly flaky: readonly TestRef[];
  readonly flakes: readonly FlakeState[];
  readonly quarantined: readonly TestRef[];
  /** Null while it is running, or if it was killed. */
  readonly ended: EventOf<'run.ended'> | null;
  /** Whether everything it changed has been reverted since. */
  readonly undone: boolean;
}

/** One test of the selection. */
export interface TestState extends Required<Omit<SeenTest, 'rerunIds'>>, Pick<SeenTest, 'rerunIds'> {
  /** The causes that it belonged to when they were found. */
  readonly causeIds: readonly string[];
}

/** A flake, and how often its test was green with the fix. */
export interface FlakeState extends Flake {
  readonly green?: Count;
}

/** One cause. */
export interface CauseState {
  readonly summary: CauseSummary;
  /** Null while it is waiting for its turn. */
  readonly startedAt: number | null;
  /** Null while it is waiting for its turn, and after it has ended. */
  readonly phase: Phase | null;
  /** By number, from 1. */
  readonly attempts: readonly AttemptState[];
  /** What happened outside its attempts. */
  readonly asides: readonly Aside[];
  readonly costUsd: number | null;
  readonly ended: EventOf<'cause.ended'> | null;
}

/** One attempt, in progress until it is judged. */
export interface AttemptState {
  readonly n: number;
  /** Null for a re-run without an agent, whose first event is its judgement. */
  readonly started: EventOf<'agent.started'> | null;
  readonly ended: EventOf<'agent.ended'> | null;
  /** Set if its change stays until the proof decides. */
  readonly held: EventOf<'attempt.held'> | null;
  readonly judged: Attempt | null;
}

/** An event of a cause that is shown alongside its attempts. */
export type Aside = EventOf<
  'agent.retrying' | 'agent.waiting_for_input' | 'cause.came_back' | 'cause.blamed'
>;

/** What is currently being done. */
export interface Phase {
  /** The event it began with; it lasts until the next phase. */
  readonly since: PhaseEvent;
  /** The latest activity: what the agent did, or which test is running. */
  readonly doing: string;
}

/** An event that begins a phase. */
export type PhaseEvent = EventOf<
  | 'suite.started'
  | 'suite.ended'
  | 'cause.started'
  | 'agent.started'
  | 'agent.ended'
  | 'attempt.held'
  | 'agent.retrying'
>;

/** A period of a run: Playwright at work, an agent at work, or a wait. */
export interface SpanState {
  readonly kind: 'suite' | 'agent' | 'wait';
  readonly since: EventOf<'suite.started' | 'agent.started' | 'agent.retrying'>;
  /** Null while it lasts. */
  readonly to: number | null;
  /** US dollars, if the agent program reported them; else null. */
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
    suiteBroken: false,
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
    verification: null,
    costUsd: null,
    warnings: [],
    flaky: [],
    flakes: [],
    quarantined: [],
    ended: null,
    undone: false,
  };
}
