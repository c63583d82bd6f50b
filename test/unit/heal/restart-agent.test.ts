import { describe, expect, it } from 'vitest';
import type { AgentEnd, AgentRun } from '../../../src/core/attempt.js';
import { runWithRestarts, type Start } from '../../../src/heal/attempt/start-agent.js';
import type { Session } from '../../../src/heal/session.js';
import { aCause, failing, someSettings } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';

const overloaded: AgentEnd = { kind: 'retryable', reason: 'claude: 529 Overloaded' };
const tooLong: AgentEnd = { kind: 'context-overflow', reason: 'claude: prompt is too long' };
const completed: AgentEnd = { kind: 'completed' };
const cause = aCause({ lead: failing('t1', 'boom') });

function aRun(end: AgentEnd, costUsd: number | null = 0.5): AgentRun {
  const usage = { costUsd, inputTokens: 10, outputTokens: null, turns: 1, sessionId: 's1' };
  return { end, claim: null, usage, denials: [], durationMs: 1000, tail: '', orphans: [] };
}

async function runThrough(
  ends: readonly AgentEnd[],
  over: { settings?: Session['settings']; resume?: string | null; abortAt?: number } = {},
) {
  const starts: Start[] = [];
  const controller = new AbortController();
  const { settings = someSettings() } = over;
  const { session, clock, events } = await healingSession([], { settings, signal: controller.signal });
  const { spending } = session;
  spending.agentStarted(cause);
  const run = await runWithRestarts(
    { ...session, clock: { ...clock, random: () => 0.5 } },
    {
      cause,
      n: 1,
      runner: 'claude',
      resume: over.resume ?? null,
      signal: controller.signal,
      start: async (start) => {
        starts.push(start);
        if (starts.length === over.abortAt) controller.abort();
        return aRun(ends[starts.length - 1] ?? ends.at(-1)!);
      },
    },
  );
  return { run, starts, events, clock, spending };
}

describe('an agent that could not work', () => {
  it('AG-7 is started again after a wait with backoff and jitter, and its usage is added up', async () => {
    const { run, starts, clock, events } = await runThrough([overloaded, overloaded, completed]);
    expect(run).toMatchObject({ end: completed, durationMs: 3000 });
    expect(run.usage).toEqual({
      costUsd: 1.5,
      inputTokens: 30,
      outputTokens: null,
      turns: 3,
      sessionId: 's1',
    });
    expect(starts).toHaveLength(3);
    expect(clock.slept).toEqual([3750, 7500]);
    expect(events).toMatchObject([
      { type: 'agent.retrying', attempt: 1, delayMs: 3750, reason: 'claude: 529 Overloaded' },
      { type: 'agent.retrying', attempt: 1, delayMs: 7500 },
    ]);
  });

  it.each([
    ['longer than the backoff', 30_000, [31_500]],
    ['shorter, and the backoff holds', 1000, [3750]],
  ])('AG-7 waits as long as the provider asks: %s', async (_, waitMs, slept) => {
    const { run, clock, events } = await runThrough([{ ...overloaded, waitMs }, completed]);
    expect(run.end).toEqual(completed);
    expect(clock.slept).toEqual(slept);
    expect(events).toMatchObject([{ type: 'agent.retrying', delayMs: slept[0] }]);
  });

  it('AG-7 leaves a provider that asks for more than five minutes to a person, with the time', async () => {
    const { run, starts, clock } = await runThrough([{ ...overloaded, waitMs: 3_600_000 }]);
    expect(starts).toHaveLength(1);
    expect(clock.slept).toEqual([]);
    expect(run.end).toMatchObject({
      remedy: expect.stringMatching(/\d\d:\d\d.*self-heal resume run/) as string,
    });
  });

  it('AG-7 does not wait if the wait would exceed limits.time', async () => {
    const plain = someSettings();
    const settings = { ...plain, limits: { ...plain.limits, timeMs: 20_000 } };
    const { run, clock } = await runThrough([{ ...overloaded, waitMs: 30_000 }], { settings });
    expect(run.end.kind).toBe('unusable');
    expect(clock.slept).toEqual([]);
  });

  it('AG-7 is unusable after its last restart, with a remedy', async () => {
    const { run, starts } = await runThrough([overloaded]);
    expect(starts).toHaveLength(6);
    expect(run.end).toEqual({
      kind: 'unusable',
      reason: 'claude: 529 Overloaded',
      remedy: 'The provider is overloaded; run again later.',
    });
  });

  it('AG-7 counts restarts as agent runs of the run, but not of the test', async () => {
    const { spending } = await runThrough([overloaded, completed]);
    expect(spending.spentFor(cause, 0)).toMatchObject({ agentRuns: 2, agentRunsOnTest: 1 });
  });

  it.each([
    ['agentRuns', { agentRuns: 2 }, 2],
    ['time', { timeMs: 4000 }, 2],
    ['costUsd', { costUsd: 0.9 }, 2],
  ] as const)('AG-7 is bounded by limits.%s', async (_, limit, wanted) => {
    const plain = someSettings();
    const settings = { ...plain, limits: { ...plain.limits, ...limit } };
    const { starts, run } = await runThrough([overloaded], { settings });
    expect(run.end.kind).toBe('unusable');
    expect(starts.length).toBeLessThanOrEqual(wanted);
  });

  it('AG-7 is started once with less context in a new session if the prompt was too long', async () => {
    const { run, starts, clock } = await runThrough([tooLong, tooLong], { resume: 's0' });
    expect(starts).toEqual([
      { reduced: false, resume: 's0' },
      { reduced: true, resume: null },
    ]);
    expect(clock.slept).toEqual([0]);
    expect(run.end).toMatchObject({ kind: 'unusable', remedy: expect.stringContaining('larger context') });
  });

  it('AG-7 is not started again if only a person can fix the error', async () => {
    const fatal: AgentEnd = { kind: 'unusable', reason: 'claude: 401', remedy: 'Log in.' };
    const { run, starts } = await runThrough([fatal]);
    expect(run.end).toEqual(fatal);
    expect(starts).toHaveLength(1);
  });

  it('AG-9 starts a new session if the earlier one is gone', async () => {
    const gone: AgentEnd = {
      kind: 'unusable',
      reason: 'claude: No conversation found with session ID: s0',
      remedy: '',
    };
    const { run, starts } = await runThrough([gone, completed], { resume: 's0' });
    expect(starts.map((one) => one.resume)).toEqual(['s0', null]);
    expect(run.end).toEqual(completed);
  });

  it('AG-10 is not started again after an interrupt', async () => {
    const { run, starts } = await runThrough([overloaded], { abortAt: 1 });
    expect(starts).toHaveLength(1);
    expect(run.end).toEqual({ kind: 'aborted' });
  });
});
