import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attempt, Judgement } from '../../../src/core/attempt.js';
import {
  backoffMs,
  decide,
  isPaused,
  type Decision,
  type History,
  type Policy,
} from '../../../src/core/policy.js';
import { anAttempt, someSettings } from '../../rig/builders.js';

const policy: Policy = someSettings();

function history(over: Partial<History> = {}): History {
  const spent = { agentRuns: 0, agentRunsOnTest: 0, costUsd: 0, elapsedMs: 0 };
  return {
    attempts: [],
    retry: 'code_error',
    environment: null,
    agents: ['debugger'],
    waited: true,
    spent,
    ...over,
  };
}

const tried = (count: number, over: Partial<Attempt> = {}) =>
  Array.from({ length: count }, (_, index) => anAttempt({ n: index + 1, ...over }));

describe('the next step', () => {
  it('HL-1 deploys the primary agent first', () => {
    expect(decide(history(), policy)).toEqual({ kind: 'deploy', agent: 'debugger', attempt: 1 });
  });

  it('HL-1 ends as healed when the re-run is green', () => {
    const attempts = [anAttempt({ judged: 'green', reverted: false })];
    expect(decide(history({ attempts }), policy)).toEqual({
      kind: 'end',
      end: { verdict: 'healed', reason: 'fixed by debugger' },
    });
  });

  it('HL-2 deploys again while retries < max, and ends as failed at max', () => {
    expect(decide(history({ attempts: tried(1) }), policy)).toMatchObject({ kind: 'deploy', attempt: 2 });
    expect(decide(history({ attempts: tried(3) }), policy)).toMatchObject({
      kind: 'end',
      end: { verdict: 'failed', reason: 'still failing after 3 retries' },
    });
  });

  it('HL-3 ends as superseded if the error changed', () => {
    const attempts = [anAttempt({ judged: 'changed' })];
    expect(decide(history({ attempts }), policy)).toMatchObject({ end: { verdict: 'superseded' } });
  });

  it('HL-4 waits before every attempt but the first', () => {
    expect(decide(history({ attempts: tried(1), waited: false }), policy)).toEqual({
      kind: 'wait',
      delayMs: 5000,
      attempt: 1,
    });
    expect(decide(history({ waited: false }), policy)).toMatchObject({ kind: 'deploy' });
  });

  it('HL-4 waits 5, 10, 20, 40 s and never longer than the maximum', () => {
    expect([1, 2, 3, 4, 5, 6].map((n) => backoffMs(n, policy.retries))).toEqual([
      5000, 10_000, 20_000, 40_000, 60_000, 60_000,
    ]);
  });

  it('HL-4 HN-9 does not wait for an attempt that the time limit would prevent', () => {
    const spent = { ...history().spent, elapsedMs: policy.limits.timeMs - 5000 };
    expect(decide(history({ attempts: tried(1), waited: false, spent }), policy)).toMatchObject({
      end: { verdict: 'budget' },
    });
    const inTime = { ...spent, elapsedMs: spent.elapsedMs - 1 };
    expect(decide(history({ attempts: tried(1), waited: false, spent: inTime }), policy)).toMatchObject({
      kind: 'wait',
    });
  });

  it('HL-5 deploys no agent for the last retry after two failed fixes', () => {
    expect(decide(history({ attempts: tried(2) }), policy)).toEqual({ kind: 'retest', attempt: 3 });
  });

  it('HL-5 counts only fixes: an agent that changed nothing has not failed a fix', () => {
    const attempts = tried(2, { outcome: 'unchanged', files: [] });
    expect(decide(history({ attempts }), policy)).toMatchObject({ kind: 'deploy', attempt: 3 });
  });

  it('HN-3 HN-7 deploys again without a wait after tampering, and ends as rejected the second time or if no attempt is left', () => {
    const once = tried(1, { judged: 'rejected' });
    expect(decide(history({ attempts: once, waited: false }), policy)).toMatchObject({
      kind: 'deploy',
      attempt: 2,
    });
    const rejected = { end: { verdict: 'rejected' } };
    expect(decide(history({ attempts: tried(2, { judged: 'rejected' }) }), policy)).toMatchObject(rejected);
    const last = [...tried(2), anAttempt({ n: 3, judged: 'rejected' })];
    expect(decide(history({ attempts: last }), policy)).toMatchObject(rejected);
  });

  it('CS-7 tries the agent of the next alternative when the primary failed', () => {
    const agents = ['debugger', 'code-review'];
    expect(decide(history({ agents, attempts: tried(1) }), policy)).toMatchObject({ agent: 'code-review' });
  });

  it('HL-7 asks an agent that gave up no second time, but another one', () => {
    const claim = { status: 'not-fixed', summary: 'no idea' } as const;
    const attempts = tried(1, { claim, files: [], agent: 'debugger' });
    expect(decide(history({ attempts }), policy)).toEqual({
      kind: 'end',
      end: { verdict: 'failed', reason: 'its agent found no fix: no idea' },
    });
    const agents = ['debugger', 'code-review'];
    expect(decide(history({ agents, attempts }), policy)).toMatchObject({ agent: 'code-review' });
    const changed = tried(1, { claim, agent: 'debugger' });
    expect(decide(history({ attempts: changed }), policy)).toMatchObject({ kind: 'deploy' });
  });

  it('HL-7 deploys no agent for a dead server', () => {
    expect(decide(history({ environment: 'nobody listens' }), policy)).toMatchObject({
      end: { verdict: 'failed', reason: 'nobody listens' },
    });
  });

  it('AG-8 ends as agent-unusable if the agent’s tool calls were denied', () => {
    const attempts = [anAttempt({ outcome: 'denied', files: [] })];
    expect(decide(history({ attempts }), policy)).toMatchObject({
      end: { verdict: 'agent-unusable' },
    });
  });

  it('HN-1 deploys no further agent if a change could not be written, also if it is the built-in fixer’s', () => {
    const failedBecause = 'its change could not be written: EPERM';
    for (const runner of ['claude', 'built-in']) {
      const attempts = [anAttempt({ runner, judged: 'not-judged', change: '1', failedBecause })];
      expect(decide(history({ attempts }), policy)).toEqual({
        kind: 'end',
        end: { verdict: 'failed', reason: failedBecause },
      });
    }
  });

  it('AG-3 asks a person when the agent says that one is needed', () => {
    const claim = { status: 'needs-person' as const, summary: 'Which price is right?' };
    const attempts = [anAttempt({ claim })];
    expect(decide(history({ attempts }), policy)).toEqual({
      kind: 'escalate',
      question: 'Which price is right?',
    });
  });

  it('CS-11 escalates never_retry without an agent', () => {
    expect(decide(history({ retry: 'never_retry' }), policy)).toMatchObject({ kind: 'escalate' });
  });

  it.each([
    ['agentRuns', { agentRuns: 20 }],
    ['agentRunsPerTest', { agentRunsOnTest: 6 }],
    ['costUsd', { costUsd: 10 }],
    ['time', { elapsedMs: 3_600_000 }],
  ])('HL-3 HN-9 stops at limits.%s', (limit, over) => {
    const decision = decide(history({ spent: { ...history().spent, ...over } }), policy);
    expect(decision).toMatchObject({ kind: 'end', end: { verdict: 'budget' } });
    expect(JSON.stringify(decision)).toContain(limit);
  });

  it('HL-8 never deploys beyond its limits and always ends, whatever the agents do', () => {
    fc.assert(
      fc.property(anyPolicy, fc.array(anyEnd, { minLength: 40, maxLength: 40 }), (some, ends) => {
        const { deployed, waits, attempts, last } = play(some, ends);
        expect(deployed).toBeLessThanOrEqual(some.limits.agentRuns);
        expect(deployed).toBeLessThanOrEqual(some.limits.agentRunsPerTest);
        expect(attempts).toBeLessThanOrEqual(some.retries.max);
        expect(waits).toBeLessThanOrEqual(Math.max(0, attempts - 1));
        expect(['end', 'escalate']).toContain(last.kind);
      }),
    );
  });
});

const anyPolicy: fc.Arbitrary<Policy> = fc.record({
  retries: fc.record({
    max: fc.integer({ min: 1, max: 8 }),
    backoff: fc.constant({ initialMs: 1, factor: 2, maxMs: 10 }),
  }),
  limits: fc.record({
    agentRuns: fc.integer({ min: 0, max: 6 }),
    agentRunsPerTest: fc.integer({ min: 0, max: 6 }),
    costUsd: fc.integer({ min: 0, max: 5 }),
    timeMs: fc.integer({ min: 0, max: 100_000 }),
    escalations: fc.constant(5),
    parallel: fc.constant(1),
  }),
});

const anyEnd = fc.record({
  judged: fc.constantFrom<Judgement>('still-failing', 'changed', 'green', 'vanished'),
  outcome: fc.constantFrom<Attempt['outcome']>(
    'completed',
    'exited',
    'timed-out',
    'unchanged',
    'spawn-failed',
  ),
  changedFiles: fc.boolean(),
  costUsd: fc.integer({ min: 0, max: 2 }),
});

type End = typeof anyEnd extends fc.Arbitrary<infer T> ? T : never;

/** Plays a cause to its end against agents that end in the given ways; throws if it does not end. */
function play(some: Policy, ends: readonly End[]) {
  const attempts: Attempt[] = [];
  let [deployed, waits, costUsd, elapsedMs, waited] = [0, 0, 0, 0, true];
  for (let step = 0; step < 200; step += 1) {
    const spent = { agentRuns: deployed, agentRunsOnTest: deployed, costUsd, elapsedMs };
    const decision: Decision = decide(history({ attempts, waited, spent }), some);
    if (decision.kind === 'end' || decision.kind === 'escalate') {
      return { deployed, waits, attempts: attempts.length, last: decision };
    }
    if (decision.kind === 'wait') {
      waits += 1;
      elapsedMs += decision.delayMs;
      waited = true;
      continue;
    }
    elapsedMs += 100;
    const end = ends[attempts.length];
    if (!end) throw new Error('There were more attempts than ends.');
    const withAgent = decision.kind === 'deploy';
    if (withAgent) {
      deployed += 1;
      costUsd += end.costUsd;
    }
    attempts.push(
      anAttempt({
        n: decision.attempt,
        agent: withAgent ? 'debugger' : null,
        outcome: withAgent ? end.outcome : 'no-agent',
        judged: end.judged,
        files: end.changedFiles ? [{ path: 'a', added: 1, removed: 0 }] : [],
      }),
    );
    waited = false;
  }
  throw new Error('It did not end.');
}

describe('the counts of earlier runs', () => {
  const earlier = (count: number, failedFixes = 0) => ({ count, failedFixes });

  it('ME-2 allow three attempts; the next failure is escalated without an agent', () => {
    expect([0, 1, 2, 3].map((count) => decide(history({ earlier: earlier(count) }), policy).kind)).toEqual([
      'deploy',
      'deploy',
      'deploy',
      'escalate',
    ]);
  });

  it('ME-8 are continued', () => {
    const after = (attempts: readonly Attempt[]) =>
      decide(history({ attempts, earlier: earlier(2) }), policy);
    expect(after([])).toEqual({ kind: 'deploy', agent: 'debugger', attempt: 3 });
    expect(after(tried(1))).toMatchObject({
      end: { verdict: 'failed', reason: 'still failing after 3 retries, 2 of them in earlier runs' },
    });
  });

  it('HL-5 ME-8 make the last retry a plain re-run after two failed fixes', () => {
    expect(decide(history({ earlier: earlier(2, 2) }), policy)).toEqual({ kind: 'retest', attempt: 3 });
  });

  it('ME-2 do not matter for never_retry, which is escalated at once', () => {
    expect(decide(history({ retry: 'never_retry' }), policy).kind).toBe('escalate');
  });

  it('ME-6 do not include earlier questions in the threshold for a pause', () => {
    const asked = (count: number, askedBefore: boolean) =>
      Array.from({ length: count }, () => ({ verdict: 'escalated', askedBefore }));
    expect(isPaused(asked(5, false), policy.limits)).toBe(true);
    expect(isPaused([...asked(4, false), ...asked(4, true)], policy.limits)).toBe(false);
  });
});

it('HN-9 tells the time limit in minutes, however it was set', () => {
  const limits = { ...policy.limits, timeMs: 100_000 };
  const spent = { ...history().spent, elapsedMs: 100_000 };
  expect(decide(history({ spent }), { ...policy, limits })).toEqual({
    kind: 'end',
    end: { verdict: 'budget', reason: 'limits.time (1.67 min) was reached' },
  });
});

describe('the built-in fixer', () => {
  const earlier = { count: 3, failedFixes: 2 };
  it.each<[string, Partial<History>, Decision['kind']]>([
    ['goes first', {}, 'ask-fixer'],
    ['goes first even if no attempt is left, since it uses none', { earlier }, 'ask-fixer'],
    ['is asked once', { askFixer: false }, 'deploy'],
    ['is not asked after an agent', { attempts: tried(1) }, 'deploy'],
    ['is not asked for credentials', { retry: 'never_retry' }, 'escalate'],
    ['is not asked about a dead server', { environment: 'the server is dead' }, 'end'],
    [
      'is not asked when the time is up',
      { spent: { ...history().spent, elapsedMs: policy.limits.timeMs } },
      'end',
    ],
  ])('BF-1 BF-5 %s', (_, over, kind) => {
    expect(decide(history({ askFixer: true, ...over }), policy).kind).toBe(kind);
  });
});
