import { type Attempt, isKept } from '../model/attempt.js';
import type { AvoidedReason } from '../model/avoided.js';
import type { TestRef } from '../model/failure.js';
import type { Count } from '../model/failure-rate.js';
import type { Flake } from '../model/flake.js';
import type { VerifyLevel } from '../model/settings.js';
import type { Verification } from '../model/verification.js';
import type {
  CauseSummary,
  EventOf,
  RegressionResult,
  RunAsked,
  SeenTest,
  Event,
  StampedEvent,
} from '../event.js';

/** A run as described by its events: everything shown about a run, live or later, is derived from it. Times are milliseconds since the epoch. */
export interface RunState {
  readonly runId: string;
  readonly project: string;
  readonly dryRun: boolean;
  /** The command as typed; null if unknown. */
  readonly request: RunAsked | null;
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
  /** All states of a run share it, since copying it for each cause would take time quadratic in the size of the run. */
  readonly tests: Map<string, TestState>;
  /** In the order in which they were found. */
  readonly causes: readonly CauseState[];
  /** Suite runs and agents, in the order in which they began. */
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

/** A cause, and what the run knows about it. */
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
  readonly held: Attempt | null;
  readonly judged: Attempt | null;
}

/** Returns the attempts of a cause that were judged, or are held until their proof decides. */
export function attemptsOf({ attempts }: Pick<CauseState, 'attempts'>): Attempt[] {
  return attempts.flatMap(({ held, judged }) => judged ?? held ?? []);
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

/** A period of a run: Playwright at work, or an agent. */
export interface SpanState {
  readonly kind: 'suite' | 'agent';
  readonly since: EventOf<'suite.started' | 'agent.started'>;
  /** Null while it lasts. */
  readonly to: number | null;
}

/** A run about which nothing is known yet. */
export function emptyRun(runId = ''): RunState {
  return {
    runId,
    project: '',
    dryRun: false,
    request: null,
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

/** Returns the run after one more event. Unknown events, from newer versions, change nothing. Pure, but for `tests`. */
export function reduce(run: RunState, event: StampedEvent): RunState {
  if (!Object.hasOwn(changes, event.type)) return run;
  // Each entry takes the event type it is keyed by, which TypeScript cannot infer from a lookup by a union.
  const change = changes[event.type] as (run: RunState, event: StampedEvent) => RunState;
  return { ...change(run, event), lastEventAt: event.time };
}

/**
 * Builds the run from its events, which are in order. Reports, live views, and `undo` come from it alone, so that even a killed run has
 * a report of all that happened until then.
 */
export function runOf(events: Iterable<StampedEvent>, runId = ''): RunState {
  let run = emptyRun(runId);
  for (const event of events) run = reduce(run, event);
  return run;
}

const same = (run: RunState) => run;

const changes: { readonly [T in Event['type']]: (run: RunState, event: EventOf<T>) => RunState } = {
  'run.started': (run, { runId, project, dryRun, verify, time, ...event }) => {
    const { shards = null, request = null } = event;
    return { ...run, runId, project, dryRun, verify, shards, request, startedAt: time };
  },
  'suite.started': (run, event) => ({
    ...began(begun(run, event), 'suite', event),
    progress: event.tests === null ? null : { done: 0, total: event.tests },
  }),
  'suite.progress': (run, { done, total, test }) => ({
    ...heard(run, suiteUnderWay(run)?.since.causeId ?? null, `${done}/${total} ${test}`),
    progress: { done, total },
  }),
  'suite.ended': (run, event) => ({
    ...closed(begun(run, event), 'suite', event),
    progress: null,
    first: event.purpose === 'first' ? event : run.first,
    suiteBroken: run.suiteBroken || (event.broken === true && ['first', 'confirm'].includes(event.purpose)),
  }),
  'reports.read': same,
  'tests.seen': (run, { tests }) => {
    const seen = tests.map((test): [string, TestState] => {
      const { retries = 0, sharedFix = false } = test;
      const causeIds = run.tests.get(test.id)?.causeIds ?? [];
      return [test.id, { ...test, retries, sharedFix, causeIds }];
    });
    for (const [id, test] of seen) run.tests.set(id, test);
    return run;
  },
  'tests.decided': (run, { ids, verdict, sharedFix = false }) =>
    withTests(run, ids, () => ({ verdict, sharedFix })),
  'cause.found': (run, { cause: summary }) =>
    withTests(
      { ...run, causes: [...run.causes, foundCause(summary)] },
      idsOf(summary.tests),
      ({ causeIds }) => ({ causeIds: [...causeIds, summary.id] }),
    ),
  'cause.narrowed': (run, { cause: summary }) => changed(run, summary.id, { summary }),
  'cause.joined': (run, { causeId, cause: summary }) =>
    withTests(
      changed({ ...run, causes: run.causes.filter((one) => one.summary.id !== causeId) }, summary.id, {
        summary,
      }),
      idsOf(summary.tests),
      ({ causeIds }) => ({ causeIds: causeIds.map((id) => (id === causeId ? summary.id : id)) }),
    ),
  'cause.flaky': (run, { tests }) =>
    withTests({ ...run, flaky: [...run.flaky, ...tests] }, idsOf(tests), () => ({
      verdict: 'flaky',
    })),
  'flake.found': (run, { flake }) => ({ ...run, flakes: [...run.flakes, flake] }),
  'flake.passed': (run, { test, green }) => ({
    ...run,
    flakes: run.flakes.map((one) => (one.test.id === test.id ? { ...one, green } : one)),
  }),
  'cause.started': begun,
  'cause.blamed': aside,
  'blame.ended': same,
  'cause.came_back': aside,
  'cause.ended': (run, event) => changed(run, event.causeId, { phase: null, ended: event }),
  'tests.quarantined': (run, { tests }) =>
    withTests({ ...run, quarantined: [...run.quarantined, ...tests] }, idsOf(tests), () => ({
      verdict: 'quarantined',
    })),
  'fixer.proposed': (run, { causeId, summary, agent }) => heard(run, causeId, `${agent}: ${summary}`),
  'agent.started': (run, event) => ({
    ...began(
      event.isReview
        ? begun(run, event)
        : withAttempt(begun(run, event), event, { started: event, ended: null }),
      'agent',
      event,
    ),
    agentRuns: run.agentRuns + 1,
  }),
  'agent.activity': (run, { causeId, text }) => heard(run, causeId, text),
  'agent.ended': (run, event) =>
    spent(
      closed(
        event.opinion ? begun(run, event) : withAttempt(begun(run, event), event, { ended: event }),
        'agent',
        event,
      ),
      event,
    ),
  'agent.retrying': (run, event) => aside(begun(run, event), event),
  'agent.waiting_for_input': aside,
  'agent.escalation_resolved': same,
  'agent.avoided': (run, { reason, count }) => ({
    ...run,
    avoided: new Map([...run.avoided, [reason, (run.avoided.get(reason) ?? 0) + count]]),
  }),
  'agent.build_paused': (run) => ({ ...run, paused: true }),
  'attempt.cut': same,
  'attempt.rejected': same,
  'attempt.held': (run, event) => {
    const { causeId, attempt: held } = event;
    return withAttempt(begun(run, event), { causeId, attempt: held.n }, { held });
  },
  'attempt.judged': (run, { causeId, attempt }) =>
    withAttempt(run, { causeId, attempt: attempt.n }, { judged: attempt }),
  'regression.ended': (run, { tests, leftOut, broke }) => ({
    ...run,
    regression: { tests, leftOut, broke: [...(run.regression?.broke ?? []), ...broke] },
  }),
  'change.verified': (run, { verification }) => ({ ...run, verification }),
  'run.undone': (run, { leftAlone }) => (leftAlone.length === 0 ? undone(run) : run),
  'run.warning': (run, { message }) => ({ ...run, warnings: [...run.warnings, message] }),
  'run.stopped': (run, { message }) => ({
    ...run,
    warnings: [...run.warnings, `The run could not continue: ${message}`],
  }),
  'run.ended': (run, event) => ({
    ...['suite', 'agent'].reduce((still, kind) => closed(still, kind, event), run),
    causes: run.causes.map((cause) => ({ ...cause, phase: null })),
    agentRuns: event.agentRuns,
    costUsd: event.costUsd,
    progress: null,
    phase: null,
    ended: event,
  }),
};

function undone(run: RunState): RunState {
  const causes = run.causes.map((cause) => ({ ...cause, attempts: cause.attempts.map(revertedAttempt) }));
  const warnings = [...run.warnings, 'What this run changed has been reverted since (self-heal undo).'];
  return { ...run, causes, warnings, undone: true };
}

function revertedAttempt({ judged, ...attempt }: AttemptState): AttemptState {
  const end = { kind: 'taken-out', because: 'a person undid it' } as const;
  return { ...attempt, judged: judged && isKept(judged) ? { ...judged, end } : judged };
}

function withTests(
  run: RunState,
  ids: readonly string[],
  over: (test: TestState) => Partial<TestState>,
): RunState {
  for (const id of ids) {
    const test = run.tests.get(id);
    if (test) run.tests.set(id, { ...test, ...over(test) });
  }
  return run;
}

function idsOf(tests: readonly TestRef[]): string[] {
  return tests.map(({ id }) => id);
}

function foundCause(summary: CauseSummary): CauseState {
  return { summary, startedAt: null, phase: null, attempts: [], asides: [], costUsd: null, ended: null };
}

function causeOf({ causes }: RunState, id: string | null): CauseState | undefined {
  return causes.find(({ summary }) => summary.id === id);
}

function changed(run: RunState, id: string, over: Partial<CauseState>): RunState {
  const causes = run.causes.map((one) => (one.summary.id === id ? { ...one, ...over } : one));
  return { ...run, causes };
}

/** Begins a phase of a cause, or of the run if it belongs to no cause. */
function begun(run: RunState, event: PhaseEvent): RunState {
  const phase = { since: event, doing: '' };
  const cause = causeOf(run, event.causeId);
  const causes = run.causes.map((one) => {
    if (one === cause) return { ...one, phase, startedAt: one.startedAt ?? event.time };
    // A cause that is checked once more after its end shows that phase only until something else begins.
    return one.ended && one.phase ? { ...one, phase: null } : one;
  });
  // One cause's agent may start or end while Playwright runs for the others.
  const still = suiteUnderWay(run)?.since.causeId === null ? run.phase : null;
  return { ...run, causes, phase: cause ? still : phase, latest: cause?.summary.id ?? null };
}

function suiteUnderWay({ spans }: RunState): SpanState | undefined {
  return spans.findLast(({ kind, to }) => kind === 'suite' && to === null);
}

function heard(run: RunState, causeId: string | null, doing: string): RunState {
  const phase = causeOf(run, causeId)?.phase;
  if (causeId !== null && phase) return changed(run, causeId, { phase: { ...phase, doing } });
  return run.phase ? { ...run, phase: { ...run.phase, doing } } : run;
}

function aside(run: RunState, event: Aside): RunState {
  return changed(run, event.causeId, { asides: [...(causeOf(run, event.causeId)?.asides ?? []), event] });
}

function spent(run: RunState, { causeId, costUsd }: EventOf<'agent.ended'>): RunState {
  if (costUsd === null) return run;
  const ofCause = (causeOf(run, causeId)?.costUsd ?? 0) + costUsd;
  return { ...changed(run, causeId, { costUsd: ofCause }), costUsd: (run.costUsd ?? 0) + costUsd };
}

function withAttempt(
  run: RunState,
  { causeId, attempt: n }: { causeId: string; attempt: number },
  over: Partial<AttemptState>,
): RunState {
  const attempts = causeOf(run, causeId)?.attempts ?? [];
  const known = attempts.find((one) => one.n === n);
  const now = { ...(known ?? { n, started: null, ended: null, held: null, judged: null }), ...over };
  return changed(run, causeId, {
    attempts: known ? attempts.map((one) => (one === known ? now : one)) : [...attempts, now],
  });
}

/** Begins a span. Ends an open one of the same kind unless it belongs to another cause, since several agents may be working. */
function began(run: RunState, kind: SpanState['kind'], since: SpanState['since']): RunState {
  const { spans } = closed(run, kind, since);
  return { ...run, spans: [...spans, { kind, since, to: null }] };
}

function closed(run: RunState, kind: string, event: StampedEvent): RunState {
  const causeId = 'causeId' in event ? event.causeId : null;
  const ends = ({ kind: is, since, to }: SpanState) =>
    is === kind && to === null && (is === 'suite' || event.type === 'run.ended' || since.causeId === causeId);
  if (!run.spans.some(ends)) return run;
  // An agent's end is announced only once its cause holds the tree again, which may be later than it ended.
  const tookMs = event.type === 'agent.ended' ? event.durationMs : Infinity;
  const end = (one: SpanState) =>
    ends(one) ? { ...one, to: Math.min(event.time, one.since.time + tookMs) } : one;
  return { ...run, spans: run.spans.map(end) };
}
