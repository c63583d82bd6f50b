import type { StampedEvent } from '../../src/event.js';
import { aTest } from './builders.js';
import { aCauseRecord } from './shown-run.js';

type UnstampedEvent = StampedEvent extends infer One
  ? One extends StampedEvent
    ? Omit<One, 'time'>
    : never
  : never;

/** Stamps events one second apart, starting at `from`, in milliseconds. */
function stampEvents(events: readonly UnstampedEvent[], from = 0): StampedEvent[] {
  return events.map((event, index) => ({ ...event, time: from + index * 1000 }));
}

export const suiteEnded = {
  type: 'suite.ended',
  causeId: null,
  total: 310,
  passed: 10,
  failed: 300,
  flaky: 0,
  skipped: 0,
  notRun: 0,
  durationMs: 9000,
} as const;

/** Returns the first events of a run in which `causes` tests failed, each with its own cause. */
export function startRedRun(causes: number): StampedEvent[] {
  const found = Array.from({ length: causes }, (_, index) => ({
    type: 'cause.found' as const,
    cause: aCauseRecord({ id: `c${index + 1}`, tests: [aTest(`t${index + 1}`)] }),
  }));
  return stampEvents([
    {
      type: 'run.started',
      runId: 'r1',
      project: 'shop',
      playwright: '1.65.0',
      dryRun: false,
      verify: 'full',
    },
    { type: 'suite.started', purpose: 'first', tests: null, causeId: null },
    { ...suiteEnded, purpose: 'first' },
    ...found,
  ]);
}

/** Returns the events of an agent that works on a cause. */
export function agentAtWork(causeId: string, doing: string, from: number): StampedEvent[] {
  return stampEvents(
    [
      { type: 'cause.started', causeId },
      {
        type: 'agent.started',
        causeId,
        attempt: 1,
        agent: 'debugger',
        slashCommand: '/debugger',
        runner: 'claude',
        timeoutMs: 300_000,
        pid: 1,
        logFile: '.self-heal/runs/r1/attempts/1.log',
      },
      { type: 'agent.activity', causeId, text: doing },
    ],
    from,
  );
}

/** Returns the events of a healed cause, from the end of its agent on. */
export function healCause(causeId: string, from: number): StampedEvent[] {
  return stampEvents(
    [
      {
        type: 'agent.ended',
        causeId,
        attempt: 1,
        exit: 'completed',
        durationMs: 2000,
        costUsd: 0.02,
        agentError: null,
        filesChanged: 1,
        orphans: [],
      },
      {
        type: 'cause.ended',
        causeId,
        verdict: 'healed',
        reason: 'fixed by debugger',
        attempts: 1,
        costUsd: 0.02,
      },
    ],
    from,
  );
}
