import type { Attempt } from '../../core/attempt.js';
import type { TestRef } from '../../core/failure.js';
import type { CauseVerdict, Outcome } from '../../core/verdict.js';
import type { CauseSummary, Event, StampedEvent } from '../../event.js';
import { doByType, type ByType } from './by-type.js';
import { phaseOf } from './phase.js';
import { counted, testName } from './words.js';

/** A run as the page shows it: what its events come to. Times are milliseconds since the epoch. */
export interface RunView {
  readonly runId: string;
  project: string;
  phase: string;
  startedAt: number | null;
  endedAt: number | null;
  lastEventAt: number | null;
  outcome: Outcome | null;
  /** Of the Playwright run that is under way; null between them. */
  progress: { done: number; total: number } | null;
  /** The first run's result. */
  suite: Extract<Event, { type: 'suite.ended' }> | null;
  readonly causes: Map<string, CauseView>;
  agentRuns: number;
  agentRunsAvoided: number | null;
  /** US dollars; null where no agent program reports any. */
  costUsd: number | null;
  /** What belongs to no cause: flaky and quarantined tests, warnings. */
  readonly notes: string[];
}

/** A cause as the page shows it. */
export interface CauseView {
  readonly summary: CauseSummary;
  verdict: CauseVerdict | 'found' | 'working';
  reason: string | null;
  /** The last thing that its agent said or did; null when none works. */
  activity: string | null;
  readonly notes: string[];
  readonly attempts: Map<number, AttemptView>;
}

/** A try as the page shows it: under way until it is judged. */
export interface AttemptView {
  readonly n: number;
  readonly by: string;
  readonly startedAt: number | null;
  readonly logFile: string | null;
  durationMs: number | null;
  costUsd: number | null;
  agentOutcome: string | null;
  judged: Attempt | null;
  readonly violations: string[];
  /** The run ended before it was judged. */
  stopped: boolean;
}

/** A run of which nothing is known yet. */
export function emptyRun(runId: string): RunView {
  return {
    runId,
    project: '',
    phase: 'Starting',
    startedAt: null,
    endedAt: null,
    lastEventAt: null,
    outcome: null,
    progress: null,
    suite: null,
    causes: new Map(),
    agentRuns: 0,
    agentRunsAvoided: null,
    costUsd: null,
    notes: [],
  };
}

/** Changes the view by one event. Events of a newer self-heal, which it does not know, change nothing. */
export function addEvent(run: RunView, event: StampedEvent): void {
  run.phase = phaseOf(event) ?? run.phase;
  run.lastEventAt = event.time;
  doByType(runChanges, run, event);
  const causeId = 'causeId' in event ? event.causeId : null;
  const cause = causeId === null ? undefined : run.causes.get(causeId);
  if (cause) doByType(causeChanges, cause, event);
}

function emptyCause(summary: CauseSummary): CauseView {
  return {
    summary,
    verdict: 'found',
    reason: null,
    activity: null,
    notes: summary.warning === null ? [] : [summary.warning],
    attempts: new Map(),
  };
}

const runChanges: ByType<RunView, void> = {
  'run.started': (run, { project, time }) => {
    run.project = project;
    run.startedAt = time;
  },
  'suite.started': (run, { tests }) => {
    run.progress = tests === null ? null : { done: 0, total: tests };
  },
  'suite.progress': (run, { done, total }) => {
    run.progress = { done, total };
  },
  'suite.ended': (run, event) => {
    run.progress = null;
    if (event.purpose === 'first') run.suite = event;
  },
  'cause.found': (run, { cause }) => {
    run.causes.set(cause.id, emptyCause(cause));
  },
  'agent.started': (run) => {
    run.agentRuns += 1;
  },
  'agent.ended': (run, { costUsd }) => {
    if (costUsd !== null) run.costUsd = (run.costUsd ?? 0) + costUsd;
  },
  'cause.flaky': (run, { tests }) => note(run, 'flaky, green without a change', tests),
  'tests.quarantined': (run, { tests }) => note(run, 'in quarantine: red, and not failing the run', tests),
  'run.warning': (run, { message }) => {
    run.notes.push(`warning: ${message}`);
  },
  'run.ended': endRun,
};

function endRun(run: RunView, event: Extract<StampedEvent, { type: 'run.ended' }>): void {
  const { time, outcome, agentRuns, agentRunsAvoided, costUsd } = event;
  Object.assign(run, { endedAt: time, outcome, agentRuns, agentRunsAvoided, costUsd, progress: null });
  for (const cause of run.causes.values()) {
    cause.activity = null;
    for (const attempt of cause.attempts.values()) stop(attempt, time);
  }
}

/** An interrupted run ends in the middle of an attempt. */
function stop(attempt: AttemptView, time: number): void {
  attempt.durationMs ??= attempt.startedAt === null ? null : time - attempt.startedAt;
  attempt.stopped = attempt.judged === null;
}

function note(run: RunView, what: string, tests: readonly TestRef[]): void {
  run.notes.push(...tests.map((test) => `${what}: ${testName(test)}`));
}

const causeChanges: ByType<CauseView, void> = {
  'cause.started': (cause) => {
    cause.verdict = 'working';
  },
  'agent.started': (cause, { attempt: n, slashCommand, runner, logFile, time }) => {
    const by = `${slashCommand} (${runner})`;
    cause.verdict = 'working';
    cause.attempts.set(n, { ...emptyAttempt(n, by), startedAt: time, logFile });
  },
  'agent.activity': (cause, { text }) => {
    cause.activity = text;
  },
  'agent.ended': (cause, { attempt, durationMs, costUsd, outcome: agentOutcome }) => {
    cause.activity = null;
    Object.assign(attemptOf(cause, attempt), { durationMs, costUsd, agentOutcome });
  },
  'agent.retrying': (cause, { delayMs, reason }) => {
    cause.notes.push(`waited ${counted(Math.ceil(delayMs / 1000), 'second')}: ${reason}`);
  },
  'agent.waiting_for_input': (cause, { question, escalationId }) => {
    cause.notes.push(
      escalationId === null ? `A person is needed: ${question}` : `A person is asked: ${escalationId}`,
    );
  },
  'cause.came_back': (cause) => {
    cause.notes.push('An earlier run had healed this; it did not hold.');
  },
  'attempt.rejected': (cause, { attempt, violations }) => {
    const lines = violations.map(
      ({ file, line, rule, says }) => `${file}${line === null ? '' : `:${line}`} ${rule}: ${says}`,
    );
    attemptOf(cause, attempt).violations.push(...lines);
  },
  'attempt.judged': (cause, { attempt }) => {
    const view = attemptOf(cause, attempt.n);
    view.judged = attempt;
    view.durationMs ??= attempt.durationMs;
  },
  'cause.ended': (cause, { verdict, reason }) => {
    Object.assign(cause, { verdict, reason, activity: null });
  },
};

/** A re-run without an agent is first heard of when it is judged. */
function attemptOf({ attempts }: CauseView, n: number): AttemptView {
  const known = attempts.get(n) ?? emptyAttempt(n, 'run again, without an agent');
  attempts.set(n, known);
  return known;
}

function emptyAttempt(n: number, by: string): AttemptView {
  return {
    n,
    by,
    startedAt: null,
    logFile: null,
    durationMs: null,
    costUsd: null,
    agentOutcome: null,
    judged: null,
    violations: [],
    stopped: false,
  };
}
