import { describe, expect, it } from 'vitest';
import type { Event, StampedEvent } from '../../../src/event.js';
import { addEvent, emptyRun } from '../../../src/ui/page/run-view.js';
import { dollars, duration } from '../../../src/ui/page/words.js';
import { anAttempt } from '../../rig/builders.js';
import { aCauseSummary } from '../../rig/shown-run.js';

const started = {
  type: 'agent.started',
  causeId: 'c1',
  attempt: 1,
  agent: 'debugger',
  slashCommand: '/debugger',
  runner: 'claude',
  timeoutMs: 60_000,
  pid: 1,
  logFile: 'attempts/1.log',
} as const;
const ended = {
  type: 'agent.ended',
  causeId: 'c1',
  attempt: 1,
  outcome: 'completed',
  durationMs: 4200,
  costUsd: 0.12,
  filesChanged: 1,
  leftovers: [],
  trouble: null,
} as const;
const over = {
  type: 'run.ended',
  outcome: 'interrupted',
  exitCode: 130,
  durationMs: 9000,
  agentRuns: 1,
  agentRunsAvoided: 0,
  costUsd: null,
} as const;

function viewOf(...events: readonly Event[]) {
  const run = emptyRun('20261121-071500-000a');
  for (const [at, event] of [{ type: 'cause.found', cause: aCauseSummary() } as const, ...events].entries()) {
    addEvent(run, { time: at * 1000, ...event });
  }
  return { run, cause: run.causes.get('c1'), attempt: run.causes.get('c1')?.attempts.get(1) };
}

describe('a run as the page shows it', () => {
  it('RP-5 an agent at work has an activity, and none once it ended', () => {
    const activity = { type: 'agent.activity', causeId: 'c1', text: 'reads' } as const;
    expect(viewOf(started, activity).cause).toMatchObject({ verdict: 'working', activity: 'reads' });
    const { cause, attempt, run } = viewOf(started, activity, ended);
    expect(cause?.activity).toBeNull();
    expect(attempt).toMatchObject({ by: '/debugger (claude)', durationMs: 4200, costUsd: 0.12 });
    expect(run).toMatchObject({ agentRuns: 1, costUsd: 0.12 });
  });

  it('RP-5 a re-run without an agent is an attempt from when it is judged', () => {
    const judged = { type: 'attempt.judged', causeId: 'c1', attempt: anAttempt({ agent: null }) } as const;
    expect(viewOf(judged).attempt).toMatchObject({ n: 1, by: 'run again, without an agent' });
  });

  it('RP-5 what an interrupted run left in the middle is not shown as at work', () => {
    const { run, attempt } = viewOf(started, over);
    expect(run).toMatchObject({ phase: 'Interrupted', endedAt: 2000, outcome: 'interrupted' });
    expect(attempt).toMatchObject({ stopped: true, durationMs: 1000 });
  });

  it('RP-5 events of a newer self-heal, and of causes that nobody told of, change nothing', () => {
    const known = viewOf(started).run;
    const { run } = viewOf(started);
    for (const type of ['cause.divined', 'constructor', '__proto__']) {
      addEvent(run, { time: 1000, type, causeId: 'c1' } as unknown as StampedEvent);
    }
    addEvent(run, { time: 1000, type: 'cause.started', causeId: 'c9' });
    expect(run).toEqual(known);
  });
});

it.each([
  [840, '840ms'],
  [4250, '4.2s'],
  [59_999, '59.9s'],
  [192_000, '3m 12s'],
  [3_840_000, '1h 4m'],
])('RP-5 %i ms is %s', (ms, text) => expect(duration(ms)).toBe(text));

it('RP-5 less than a cent is not nothing', () => {
  expect([dollars(0), dollars(0.0012), dollars(1.5)]).toEqual(['$0.00', '$0.0012', '$1.50']);
});
