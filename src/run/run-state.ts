import { type Attempt, isKept } from '../model/attempt.js';
import type { Blame } from '../model/blame.js';
import type { CauseRecord } from '../model/cause.js';
import type { TestRef } from '../model/failure.js';
import type { Count } from '../model/failure-rate.js';
import type { Flake } from '../model/flake.js';
import type { VerifyLevel } from '../model/settings.js';
import type { Verification } from '../model/verification.js';
import type { Event, EventOf, ListedTest, RegressionResult, StampedEvent, CommandLine } from '../event.js';

/** The state of a run, from its events. All views of a run, live or later, are derived from it. Times are milliseconds since the epoch. */
export interface RunState {
  readonly runId: string;
  readonly project: string;
  readonly dryRun: boolean;
  /** The command as typed; null if unknown. */
  readonly request: CommandLine | null;
  readonly verify: VerifyLevel;
  readonly shards: EventOf<'run.started'>['shards'] | null;
  /** Null before the first event. */
  readonly startedAt: number | null;
  readonly lastEventAt: number | null;
  /** How the first Playwright run ended; null before. */
  readonly first: EventOf<'suite.ended'> | null;
  /** The Playwright run in progress; null between runs. */
  readonly suite: EventOf<'suite.started'> | null;
  /** The progress of that run; null between runs, or if its number of tests is not known. */
  readonly progress: { readonly done: number; readonly total: number } | null;
  /** Current work on several causes, such as the proof; null while there is none. */
  readonly phase: Phase | null;
  /** The cause with the newest phase; null if that is a phase of the run. */
  readonly latest: string | null;
  /**
   * By id, in the order in which they first ran. All states of a run share this map: a copy for each cause would take time quadratic in the
   * size of the run.
   */
  readonly tests: Map<string, TestState>;
  /** In the order in which they were found. */
  readonly causes: readonly CauseState[];
  /** Playwright runs so far, including the first one. */
  readonly playwrightRuns: number;
  readonly agentRuns: number;
  /** True if too many causes are waiting for people. */
  readonly paused: boolean;
  readonly regression: RegressionResult | null;
  /** The verdict of `self-heal verify`; null in other runs. */
  readonly verification: Verification | null;
  /** US dollars; null if no agent program reports any. */
  readonly costUsd: number | null;
  readonly warnings: readonly string[];
  readonly flakes: readonly FlakeState[];
  /** Null while it is running, or if it was killed. */
  readonly ended: EventOf<'run.ended'> | null;
  /** True if its changes were undone later. */
  readonly undone: boolean;
  /** The id of a change that somebody made to tests during the run; null if there is none. */
  readonly editedTests: string | null;
}

/** One test of the selection. */
export interface TestState extends Required<Omit<ListedTest, 'rerunIds'>>, Pick<ListedTest, 'rerunIds'> {
  /** The causes that it belonged to when they were found. */
  readonly causeIds: readonly string[];
}

/** A flake, and how often its test was green with the fix. */
export interface FlakeState extends Flake {
  readonly green?: Count;
}

/** A cause, and the work on it so far. */
export interface CauseState extends CauseRecord {
  /** Null while it is waiting for its turn. */
  readonly startedAt: number | null;
  /** Null while it is waiting for its turn, and after it has ended. */
  readonly phase: Phase | null;
  /** By number, from 1. */
  readonly attempts: readonly AttemptState[];
  /** The change that broke it; absent if none is known. */
  readonly blame?: Blame;
  /** Why the search found no change that broke it; absent if there was no search. */
  readonly unblamed?: string;
  /** The stored question to a person; null if there is none. */
  readonly escalationId: string | null;
  /** Events that a report mentions in addition to its attempts. */
  readonly notes: readonly EventOf<'agent.retrying' | 'cause.came_back'>[];
  readonly costUsd: number | null;
  readonly ended: EventOf<'cause.ended'> | null;
}

/** One attempt, in progress until it is judged. */
export interface AttemptState {
  readonly n: number;
  /** Null for a re-run without an agent. */
  readonly started: EventOf<'agent.started'> | null;
  /** Set if its change stays until the proof decides. */
  readonly held: Attempt | null;
  readonly judged: Attempt | null;
}

/** Returns the attempts at a cause that were judged, or whose change stays until the proof decides. */
export function listAttempts({ attempts }: Pick<CauseState, 'attempts'>): Attempt[] {
  return attempts.flatMap(({ held, judged }) => judged ?? held ?? []);
}

/** The work in progress. */
export interface Phase {
  /** The event that began the phase, which lasts until the next one. */
  readonly since: PhaseEvent;
  /** The latest activity: the agent's action, or the running test. */
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

/** The state of a run before its first event. */
export function createEmptyRun(runId = ''): RunState {
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
    suite: null,
    progress: null,
    phase: null,
    latest: null,
    tests: new Map(),
    causes: [],
    playwrightRuns: 0,
    agentRuns: 0,
    paused: false,
    regression: null,
    verification: null,
    costUsd: null,
    warnings: [],
    flakes: [],
    ended: null,
    undone: false,
    editedTests: null,
  };
}

/** Returns the state after one more event. Ignores unknown events of newer versions. Pure, except that it updates `tests` in place. */
export function reduce(run: RunState, event: StampedEvent): RunState {
  if (!Object.hasOwn(reducers, event.type)) return run;
  // Each entry takes the event type of its key, which TypeScript cannot infer from a lookup by a union.
  const applyEvent = reducers[event.type] as (run: RunState, event: StampedEvent) => RunState;
  return { ...applyEvent(run, event), lastEventAt: event.time };
}

/**
 * Builds the state of a run from its events, in order. Reports, live views and `undo` use only this state, so even a killed run has a report up to the
 * kill.
 */
export function replayRun(events: Iterable<StampedEvent>, runId = ''): RunState {
  let run = createEmptyRun(runId);
  for (const event of events) run = reduce(run, event);
  return run;
}

const ignoreEvent = (run: RunState) => run;

const reducers: { readonly [T in Event['type']]: (run: RunState, event: EventOf<T>) => RunState } = {
  'run.started': (run, { runId, project, dryRun, verify, time, shards = null, request = null }) => ({
    ...run,
    runId,
    project,
    dryRun,
    verify,
    shards,
    request,
    startedAt: time,
  }),
  'suite.started': (run, event) => ({
    ...beginPhase(run, event),
    suite: event,
    progress: event.tests === null ? null : { done: 0, total: event.tests },
    playwrightRuns: run.playwrightRuns + (event.n ? 1 : 0),
  }),
  'suite.progress': (run, { done, total, test }) => ({
    ...updateActivity(run, run.suite?.causeId ?? null, `${done}/${total} ${test}`),
    progress: { done, total },
  }),
  'suite.ended': (run, event) => ({
    ...beginPhase(run, event),
    suite: null,
    progress: null,
    first: event.purpose === 'first' ? event : run.first,
  }),
  'reports.read': ignoreEvent,
  'tests.seen': (run, { tests }) => {
    for (const test of tests) {
      const { retries = 0, sharedFix = false } = test;
      const causeIds = run.tests.get(test.id)?.causeIds ?? [];
      run.tests.set(test.id, { ...test, retries, sharedFix, causeIds });
    }
    return run;
  },
  'tests.decided': (run, { ids, verdict, sharedFix = false }) =>
    updateTests(run, ids, () => ({ verdict, sharedFix })),
  'cause.found': (run, { cause }) =>
    updateTests(
      { ...run, causes: [...run.causes, createCause(cause)] },
      listIds(cause.tests),
      ({ causeIds }) => ({
        causeIds: [...causeIds, cause.id],
      }),
    ),
  'cause.narrowed': (run, { cause }) => updateCause(run, cause.id, cause),
  'cause.joined': (run, { causeId, cause }) => {
    const others = run.causes.filter(({ id }) => id !== causeId);
    return updateTests(
      updateCause({ ...run, causes: others }, cause.id, cause),
      listIds(cause.tests),
      (test) => ({
        causeIds: test.causeIds.map((id) => (id === causeId ? cause.id : id)),
      }),
    );
  },
  'cause.flaky': (run, { tests }) => updateTests(run, listIds(tests), () => ({ verdict: 'flaky' })),
  'tests.edited': (run, { change }) => ({ ...run, editedTests: change }),
  'flake.found': (run, { flake }) => ({ ...run, flakes: [...run.flakes, flake] }),
  'flake.passed': (run, { test, green }) => ({
    ...run,
    flakes: run.flakes.map((flake) => (flake.test.id === test.id ? { ...flake, green } : flake)),
  }),
  'cause.started': beginPhase,
  'cause.blamed': (run, { causeId, blame }) => updateCause(run, causeId, { blame }),
  'blame.ended': (run, { causeId, reason }) =>
    causeId === null ? run : updateCause(run, causeId, { unblamed: reason }),
  'cause.came_back': addNote,
  'cause.ended': (run, event) => updateCause(run, event.causeId, { phase: null, ended: event }),
  'tests.quarantined': (run, { tests }) =>
    updateTests(run, listIds(tests), () => ({ verdict: 'quarantined' })),
  'fixer.proposed': (run, { causeId, summary, agent }) =>
    updateActivity(run, causeId, `${agent}: ${summary}`),
  'agent.started': (run, event) => {
    const next = { ...beginPhase(run, event), agentRuns: run.agentRuns + 1 };
    return event.isReview ? next : updateAttempt(next, event, { started: event });
  },
  'agent.activity': (run, { causeId, text }) => updateActivity(run, causeId, text),
  'agent.ended': (run, event) => addCost(beginPhase(run, event), event),
  'agent.retrying': (run, event) => addNote(beginPhase(run, event), event),
  'agent.waiting_for_input': (run, { causeId, escalationId }) => updateCause(run, causeId, { escalationId }),
  'agent.escalation_resolved': ignoreEvent,
  'agent.build_paused': (run) => ({ ...run, paused: true }),
  'attempt.cut': ignoreEvent,
  'attempt.rejected': ignoreEvent,
  'attempt.held': (run, event) => {
    const { causeId, attempt: held } = event;
    return updateAttempt(beginPhase(run, event), { causeId, attempt: held.n }, { held });
  },
  'attempt.judged': (run, { causeId, attempt }) =>
    updateAttempt(run, { causeId, attempt: attempt.n }, { judged: attempt }),
  'regression.ended': (run, { tests, leftOut, broke }) => ({
    ...run,
    regression: { tests, leftOut, broke: [...(run.regression?.broke ?? []), ...broke] },
  }),
  'change.verified': (run, { verification }) => ({ ...run, verification }),
  'run.undone': (run, { leftAlone }) => (leftAlone.length === 0 ? markUndone(run) : run),
  'run.warning': (run, { message }) => ({ ...run, warnings: [...run.warnings, message] }),
  'run.stopped': (run, { message }) => ({
    ...run,
    warnings: [...run.warnings, `The run could not continue: ${message}`],
  }),
  'run.ended': (run, event) => ({
    ...run,
    causes: run.causes.map((cause) => ({ ...cause, phase: null })),
    agentRuns: event.agentRuns,
    costUsd: event.costUsd,
    suite: null,
    progress: null,
    phase: null,
    ended: event,
  }),
};

function markUndone(run: RunState): RunState {
  const causes = run.causes.map((cause) => ({ ...cause, attempts: cause.attempts.map(revertAttempt) }));
  const warnings = [...run.warnings, 'The changes of this run were undone later (self-heal undo).'];
  return { ...run, causes, warnings, undone: true };
}

function revertAttempt({ judged, ...attempt }: AttemptState): AttemptState {
  const end = { kind: 'taken-out', because: 'a person undid it' } as const;
  return { ...attempt, judged: judged && isKept(judged) ? { ...judged, end } : judged };
}

function updateTests(
  run: RunState,
  ids: readonly string[],
  update: (test: TestState) => Partial<TestState>,
): RunState {
  for (const id of ids) {
    const test = run.tests.get(id);
    if (test) run.tests.set(id, { ...test, ...update(test) });
  }
  return run;
}

function listIds(tests: readonly TestRef[]): string[] {
  return tests.map(({ id }) => id);
}

function createCause(cause: CauseRecord): CauseState {
  const work = { startedAt: null, phase: null, attempts: [], escalationId: null, notes: [] };
  return { ...cause, ...work, costUsd: null, ended: null };
}

function findCause({ causes }: RunState, id: string | null): CauseState | undefined {
  return causes.find((cause) => cause.id === id);
}

function updateCause(run: RunState, id: string, update: Partial<CauseState>): RunState {
  return { ...run, causes: run.causes.map((cause) => (cause.id === id ? { ...cause, ...update } : cause)) };
}

/** Begins a phase of a cause, or of the run if it belongs to no cause. */
function beginPhase(run: RunState, event: PhaseEvent): RunState {
  const phase = { since: event, doing: '' };
  const { causeId } = event;
  const hasCause = findCause(run, causeId) !== undefined;
  const causes = run.causes.map((cause) => {
    if (cause.id === causeId) return { ...cause, phase, startedAt: cause.startedAt ?? event.time };
    // A cause that is checked again after its end shows that phase only until the next one begins.
    return cause.ended && cause.phase ? { ...cause, phase: null } : cause;
  });
  // While Playwright runs for all causes, the agent of one may start or end.
  const sharedPhase = run.suite?.causeId === null ? run.phase : null;
  return { ...run, causes, phase: hasCause ? sharedPhase : phase, latest: hasCause ? causeId : null };
}

function updateActivity(run: RunState, causeId: string | null, doing: string): RunState {
  const phase = findCause(run, causeId)?.phase;
  if (causeId !== null && phase) return updateCause(run, causeId, { phase: { ...phase, doing } });
  return run.phase ? { ...run, phase: { ...run.phase, doing } } : run;
}

function addNote(run: RunState, event: CauseState['notes'][number]): RunState {
  return updateCause(run, event.causeId, { notes: [...(findCause(run, event.causeId)?.notes ?? []), event] });
}

function addCost(run: RunState, { causeId, costUsd }: EventOf<'agent.ended'>): RunState {
  if (costUsd === null) return run;
  const causeCost = (findCause(run, causeId)?.costUsd ?? 0) + costUsd;
  return { ...updateCause(run, causeId, { costUsd: causeCost }), costUsd: (run.costUsd ?? 0) + costUsd };
}

function updateAttempt(
  run: RunState,
  { causeId, attempt: n }: { causeId: string; attempt: number },
  update: Partial<AttemptState>,
): RunState {
  const attempts = findCause(run, causeId)?.attempts ?? [];
  const exists = attempts.some((attempt) => attempt.n === n);
  const withCurrent = exists ? attempts : [...attempts, { n, started: null, held: null, judged: null }];
  const updated = withCurrent.map((attempt) => (attempt.n === n ? { ...attempt, ...update } : attempt));
  return updateCause(run, causeId, { attempts: updated });
}
