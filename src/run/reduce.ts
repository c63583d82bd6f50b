import { isKept } from '../core/attempt.js';
import type { TestRef } from '../core/failure.js';
import type { CauseSummary, Event, EventOf, StampedEvent } from '../event.js';
import {
  type Aside,
  type AttemptState,
  type CauseState,
  emptyRun,
  type PhaseEvent,
  type RunState,
  type SpanState,
  type TestState,
} from './run-state.js';

/** Returns the run after one more event. Unknown events, from newer versions, change nothing. Pure. */
export function reduce(run: RunState, event: StampedEvent): RunState {
  if (!Object.hasOwn(changes, event.type)) return run;
  // Each entry takes the event type it is keyed by, which TypeScript cannot infer from a lookup by a union.
  const change = changes[event.type] as (run: RunState, event: StampedEvent) => RunState;
  // Any next event of its cause ends a wait.
  return { ...change(closed(run, 'wait', event), event), lastEventAt: event.time };
}

/**
 * Builds the run from its events, which are in order. Reports, live views, `undo` and `resume` come from it alone, so that even a killed run has
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
    const { shards = null, request = null, resumedFrom = null } = event;
    return { ...run, runId, project, dryRun, verify, shards, request, resumedFrom, startedAt: time };
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
    return { ...run, tests: new Map([...run.tests, ...seen]) };
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
  'agent.retrying': (run, event) => began(aside(begun(run, event), event), 'wait', event),
  'agent.waiting_for_input': aside,
  'agent.escalation_resolved': same,
  'agent.avoided': (run, { reason, count }) => ({
    ...run,
    avoided: new Map([...run.avoided, [reason, (run.avoided.get(reason) ?? 0) + count]]),
  }),
  'agent.build_paused': (run) => ({ ...run, paused: true }),
  'attempt.cut': same,
  'attempt.rejected': same,
  'attempt.held': (run, event) => withAttempt(begun(run, event), event, { held: event }),
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
    ...['suite', 'agent', 'wait'].reduce((still, kind) => closed(still, kind, event), run),
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
  const tests = new Map(run.tests);
  for (const id of ids) {
    const test = tests.get(id);
    if (test) tests.set(id, { ...test, ...over(test) });
  }
  return { ...run, tests };
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
  return { ...run, spans: [...spans, { kind, since, to: null, costUsd: null }] };
}

function closed(run: RunState, kind: string, event: StampedEvent): RunState {
  const causeId = 'causeId' in event ? event.causeId : null;
  const ends = ({ kind: is, since, to }: SpanState) =>
    is === kind && to === null && (is === 'suite' || event.type === 'run.ended' || since.causeId === causeId);
  if (!run.spans.some(ends)) return run;
  const costUsd = event.type === 'agent.ended' ? event.costUsd : null;
  // An agent's end is announced only once its cause holds the tree again, which may be later than it ended.
  const tookMs = event.type === 'agent.ended' ? event.durationMs : Infinity;
  const end = (one: SpanState) =>
    ends(one) ? { ...one, to: Math.min(event.time, one.since.time + tookMs), costUsd } : one;
  return { ...run, spans: run.spans.map(end) };
}
