import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../../src/model/attempt.js';
import { type TestFile, chooseRegression } from '../../../src/heal/choose-regression.js';
import { builtIn } from '../../../src/model/built-in.js';
import { judgeRerun } from '../../../src/heal/judge.js';
import {
  type NextStep,
  type CauseHistory,
  type Policy,
  listAgentsForFailure,
  backoffMs,
  decideNextStep,
  isPaused,
} from '../../../src/heal/policy.js';
import { type RunResult, decideOutcome } from '../../../src/model/verdict.js';
import {
  aDiagnosed,
  aDiagnosis,
  aSuiteFailure,
  anAttempt,
  anEnd,
  anError,
  failing,
  someSettings,
} from '../../rig/builders.js';

const policy: Policy = someSettings();

const noSpending = { agentRuns: 0, costUsd: 0 };

function history(over: Partial<CauseHistory> = {}): CauseHistory {
  const spent = { agentRuns: 0, agentRunsOnTest: 0, costUsd: 0, elapsedMs: 0, lastDay: noSpending };
  return {
    attempts: [],
    retry: 'code_error',
    environment: null,
    agents: ['debugger'],
    hasWaited: true,
    spent,
    ...over,
  };
}

const rejected = { end: anEnd('rejected') };
const tried = (count: number, over: Partial<Attempt> = {}) =>
  Array.from({ length: count }, (_, index) => anAttempt({ n: index + 1, ...over }));

describe('the next step', () => {
  const gaveUp = { claim: { status: 'not-fixed', summary: 'no idea' }, agent: 'debugger' } as const;
  const unwritten = { end: anEnd('unwritable', 'EPERM'), change: '1' };
  const asking = { claim: { status: 'needs-person', summary: 'Which price?' } } as const;
  const agents = ['debugger', 'code-review'];
  const second = { kind: 'deploy', agent: 'code-review' };
  const idle = { files: [] } as const;
  const conflict = { end: anEnd('conflict') };
  const fixer = { agent: 'fixer', runner: builtIn };
  const retest = { kind: 'retest' };
  const offered = { end: { kind: 'offered', because: 'Is it right?', side: 'app', proof: [] } } as const;
  const ends = (verdict: string, reason?: string) => ({
    kind: 'end',
    end: { verdict, ...(reason === undefined ? {} : { reason }) },
  });
  it.each<[string, Partial<CauseHistory>, object]>([
    ['nothing', {}, { kind: 'deploy', agent: 'debugger', attempt: 1 }],
    ['a green re-run', { attempts: tried(1, { end: anEnd('green') }) }, ends('healed', 'fixed by debugger')],
    ['the same error', { attempts: tried(1) }, { kind: 'deploy', attempt: 2 }],
    [
      'the same error without a wait',
      { attempts: tried(1), hasWaited: false },
      { kind: 'wait', delayMs: 5000 },
    ],
    ['all retries', { attempts: tried(3) }, ends('failed', 'still failing after 3 retries')],
    ['another error', { attempts: tried(1, { end: anEnd('changed') }) }, ends('superseded')],
    ['two failed fixes', { attempts: tried(2) }, { kind: 'retest', attempt: 3 }],
    ['two agents that changed nothing', { attempts: tried(2, idle) }, { kind: 'deploy', attempt: 3 }],
    ['a rejection', { attempts: tried(1, rejected), hasWaited: false }, { kind: 'deploy', attempt: 2 }],
    ['a rejection at last', { attempts: [...tried(2), anAttempt({ n: 3, ...rejected })] }, ends('rejected')],
    ['a failed primary agent', { agents, attempts: tried(1) }, second],
    [
      'an agent that gave up',
      { attempts: tried(1, { ...gaveUp, files: [] }) },
      ends('failed', 'its agent found no fix: no idea'),
    ],
    ['one that gave up before another', { agents, attempts: tried(1, { ...gaveUp, files: [] }) }, second],
    ['one that gave up and changed files', { attempts: tried(1, gaveUp) }, { kind: 'deploy' }],
    [
      'a dead server',
      { environment: 'nobody listens' },
      { kind: 'end', end: { verdict: 'failed', reason: 'nobody listens', environment: true } },
    ],
    [
      'denied tool calls',
      { attempts: tried(1, { end: anEnd('denied'), files: [] }) },
      ends('agent-unusable'),
    ],
    ['a change that could not be written', { attempts: tried(1, unwritten) }, ends('failed', 'EPERM')],
    [
      'an agent that needs a person',
      { attempts: tried(1, asking) },
      { kind: 'escalate', question: 'Which price?' },
    ],
    ['a missing permission', { retry: 'never_retry' }, { kind: 'escalate' }],
    ['two rejections', { attempts: tried(2, rejected) }, ends('rejected')],
    ['one conflict', { attempts: tried(1, conflict), hasWaited: false }, { kind: 'deploy', attempt: 2 }],
    ['three failures and a conflict', { attempts: [...tried(2), anAttempt({ n: 3, ...conflict })] }, retest],
    [
      'three conflicts',
      { attempts: tried(3, conflict) },
      ends('failed', 'its files kept changing while its agents were working'),
    ],
    ['an interrupted agent', { attempts: tried(1, { end: anEnd('interrupted') }) }, ends('interrupted')],
    ['a login that is missing', { attempts: tried(1, { end: anEnd('unusable') }) }, ends('agent-unusable')],
    ['a green re-run without a change', { attempts: tried(1, { end: anEnd('flaky') }) }, ends('flaky')],
    ['a fix for a person', { attempts: tried(1, offered) }, { kind: 'escalate', question: 'Is it right?' }],
    ['a failure without an agent', { agents: [] }, ends('failed', 'no agent is configured for this failure')],
    [
      'one try of the built-in fixer and no other',
      { attempts: tried(1, fixer) },
      { kind: 'deploy', attempt: 2 },
    ],
    ['three tries of the built-in fixer', { attempts: tried(3, fixer) }, { kind: 'deploy', attempt: 4 }],
    [
      'a fix of the built-in fixer',
      { attempts: tried(1, { ...fixer, end: anEnd('green') }) },
      ends('healed'),
    ],
  ])(
    'HL-1 HL-2 HL-3 HL-4 HL-5 HL-7 CS-7 CS-11 AG-3 AG-8 HN-1 HN-3 HN-7 the next step after %s',
    (_, over, next) => {
      expect(decideNextStep(history(over), policy)).toMatchObject(next);
    },
  );

  it('HL-4 waits 5, 10, 20, 40 s and never longer than the maximum', () => {
    expect([1, 2, 3, 4, 5, 6].map((n) => backoffMs(n, policy.retries))).toEqual([
      5000, 10_000, 20_000, 40_000, 60_000, 60_000,
    ]);
  });

  it('HL-4 HN-9 does not wait for an attempt that the time limit would prevent', () => {
    const spent = { ...history().spent, elapsedMs: policy.limits.timeMs - 5000 };
    expect(decideNextStep(history({ attempts: tried(1), hasWaited: false, spent }), policy)).toMatchObject({
      end: { verdict: 'failed', overBudget: true },
    });
    const inTime = { ...spent, elapsedMs: spent.elapsedMs - 1 };
    expect(
      decideNextStep(history({ attempts: tried(1), hasWaited: false, spent: inTime }), policy),
    ).toMatchObject({
      kind: 'wait',
    });
  });

  it.each([
    ['agentRuns', { agentRuns: 20 }],
    ['agentRunsPerTest', { agentRunsOnTest: 6 }],
    ['costUsd', { costUsd: 10 }],
    ['perDay.agentRuns', { agentRuns: 1, lastDay: { agentRuns: 199, costUsd: 0 } }],
    ['perDay.costUsd', { costUsd: 1, lastDay: { agentRuns: 0, costUsd: 99 } }],
    ['time', { elapsedMs: 3_600_000 }],
  ])('HL-3 HN-9 stops at limits.%s', (limit, over) => {
    const decision = decideNextStep(history({ spent: { ...history().spent, ...over } }), policy);
    expect(decision).toMatchObject({ kind: 'end', end: { verdict: 'failed', overBudget: true } });
    expect(JSON.stringify(decision)).toContain(limit);
  });

  it('HL-8 never deploys beyond its limits and always ends, whatever the agents do', () => {
    fc.assert(
      fc.property(anyPolicy, fc.array(anyEnd, { minLength: 40, maxLength: 40 }), (some, ends) => {
        const { deployed, waits, attempts, last } = play(some, ends);
        expect(deployed).toBeLessThanOrEqual(some.limits.agentRuns);
        expect(deployed).toBeLessThanOrEqual(some.limits.agentRunsPerTest);
        expect(deployed).toBeLessThanOrEqual(some.limits.perDay.agentRuns);
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
    perDay: fc.record({ agentRuns: fc.integer({ min: 0, max: 6 }), costUsd: fc.integer({ min: 1, max: 9 }) }),
  }),
});

const anyEnd = fc.record({
  kind: fc.constantFrom<'still-failing' | 'changed' | 'green' | 'vanished'>(
    'still-failing',
    'changed',
    'green',
    'vanished',
  ),
  changedFiles: fc.boolean(),
  costUsd: fc.integer({ min: 0, max: 2 }),
});

type End = typeof anyEnd extends fc.Arbitrary<infer T> ? T : never;

/** Plays a cause to its end against agents that end in the given ways; throws if it does not end. */
function play(some: Policy, ends: readonly End[]) {
  const attempts: Attempt[] = [];
  let [deployed, waits, costUsd, elapsedMs, hasWaited] = [0, 0, 0, 0, true];
  for (let step = 0; step < 200; step += 1) {
    const spent = { agentRuns: deployed, agentRunsOnTest: deployed, costUsd, elapsedMs, lastDay: noSpending };
    const decision: NextStep = decideNextStep(history({ attempts, hasWaited, spent }), some);
    if (decision.kind === 'end' || decision.kind === 'escalate') {
      return { deployed, waits, attempts: attempts.length, last: decision };
    }
    if (decision.kind === 'wait') {
      waits += 1;
      elapsedMs += decision.delayMs;
      hasWaited = true;
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
        end: anEnd(end.kind),
        files: end.changedFiles ? [{ path: 'a', added: 1, removed: 0 }] : [],
      }),
    );
    hasWaited = false;
  }
  throw new Error('It did not end.');
}

describe('the counts of earlier runs', () => {
  const earlier = (count: number, failedFixes = 0) => ({ count, failedFixes });

  it('ME-2 allow three attempts; the next failure is escalated without an agent', () => {
    expect(
      [0, 1, 2, 3].map((count) => decideNextStep(history({ earlier: earlier(count) }), policy).kind),
    ).toEqual(['deploy', 'deploy', 'deploy', 'escalate']);
  });

  it('ME-8 are continued', () => {
    const after = (attempts: readonly Attempt[]) =>
      decideNextStep(history({ attempts, earlier: earlier(2) }), policy);
    expect(after([])).toEqual({ kind: 'deploy', agent: 'debugger', attempt: 3 });
    expect(after(tried(1))).toMatchObject({
      end: { verdict: 'failed', reason: 'still failing after 3 retries, 2 of them in earlier runs' },
    });
  });

  it('HL-5 ME-8 make the last retry a plain re-run after two failed fixes', () => {
    expect(decideNextStep(history({ earlier: earlier(2, 2) }), policy)).toEqual({
      kind: 'retest',
      attempt: 3,
    });
  });

  it('ME-6 do not include earlier questions in the threshold for a pause', () => {
    const asked = (count: number, before: { askedBefore?: true } = {}) =>
      Array.from({ length: count }, () => ({ verdict: 'escalated', ...before }) as const);
    expect(isPaused(asked(5), policy.limits)).toBe(true);
    expect(isPaused([...asked(4), ...asked(4, { askedBefore: true })], policy.limits)).toBe(false);
  });
});

describe('the built-in fixer', () => {
  const earlier = { count: 3, failedFixes: 2 };
  it.each<[string, Partial<CauseHistory>, NextStep['kind']]>([
    ['goes first', {}, 'propose'],
    ['goes first even if no attempt is left, since it uses none', { earlier }, 'propose'],
    ['is asked once', { hasProposals: false }, 'deploy'],
    ['is not asked after an agent', { attempts: tried(1) }, 'deploy'],
    ['is not asked about a dead server', { environment: 'the server is dead' }, 'end'],
    [
      'is not asked when the time is up',
      { spent: { ...history().spent, elapsedMs: policy.limits.timeMs } },
      'end',
    ],
  ])('BF-1 BF-5 %s', (_, over, kind) => {
    expect(decideNextStep(history({ hasProposals: true, ...over }), policy).kind).toBe(kind);
  });
});

const routes = {
  'build-error': ['build-doctor'],
  'database-error': ['database'],
  'runtime-error': ['debugger'],
  'ui-error': ['code-review', 'build-doctor'],
  'network-error': ['debugger'],
  unknown: ['debugger'],
  flaky: ['debugger'],
};
const diagnosis = aDiagnosis({ category: 'build-error', alternatives: ['ui-error'] });
const suite = (file: string) => ({
  diagnosis,
  failure: {
    scope: 'suite' as const,
    stderr: '',
    errors: [
      anError(`SyntaxError: ${file}: Unexpected token (3:10)`, { location: { file, line: 3, column: 10 } }),
    ],
  },
});

it('CS-7 tries the agents of the class, then those of the alternatives, each once', () => {
  const failed = { ...aDiagnosed(), diagnosis };
  expect(listAgentsForFailure(failed, routes)).toEqual(['build-doctor', 'code-review']);
});

it('HN-3 leaves a spec that does not compile to a person, and routes it to no agent', () => {
  expect(listAgentsForFailure(suite('/project/tests/cart.spec.ts'), routes)).toEqual([]);
  expect(listAgentsForFailure(suite('/project/src/cart.ts'), routes)).not.toEqual([]);
});

describe('judge', () => {
  const before = failing('t1', 'boom');
  const suite = aDiagnosed({ failure: aSuiteFailure(), signature: 'shop:Error:suite', rerunIds: [] });
  const nothing = { failure: null, suiteFailure: null };

  it('HL-1 treats only a test that ran and passed as green', () => {
    expect(judgeRerun(before, { ended: 'passed', ...nothing }).kind).toBe('green');
    expect(judgeRerun(before, { ended: 'not-run', ...nothing }).kind).toBe('still-failing');
  });

  it('HL-2 recognizes the same error by its signature', () => {
    const seen = judgeRerun(before, { ended: 'failed', failure: failing('t1', 'boom'), suiteFailure: null });
    expect(seen).toEqual({ kind: 'still-failing', because: 'the same error came back' });
  });

  it('HL-2 HL-3 treats the same error as the same, even if the other evidence differs', () => {
    const rls = { rule: 'rls', category: 'database-error', source: 'server', confidence: 0.95 } as const;
    const because = (table: string | null) =>
      failing('t1', 'timeout', {
        diagnosis: aDiagnosis({
          category: table === null ? 'ui-error' : 'database-error',
          why: table === null ? [] : [{ ...rls, evidence: `row-level security policy for table "${table}"` }],
          facts: { ...aDiagnosis().facts, table },
        }),
      });
    const judgedAs = (table: string | null) =>
      judgeRerun(because('orders'), { ended: 'failed', failure: because(table), suiteFailure: null });
    expect(judgedAs('orders')).toMatchObject({ kind: 'still-failing' });
    expect(judgedAs(null)).toMatchObject({ kind: 'still-failing' });
    // The next agent is told that the change may have been one half of a fix.
    expect(judgedAs('order_items')).toMatchObject({
      kind: 'still-failing',
      because: expect.stringContaining('order_items'),
    });
    expect(judgedAs('order_items')).not.toEqual(judgedAs('orders'));
  });

  it('HL-10 does not treat a test that vanished or is skipped as fixed', () => {
    expect(judgeRerun(before, { ended: 'absent', ...nothing }).kind).toBe('vanished');
    expect(judgeRerun(before, { ended: 'skipped', ...nothing }).kind).toBe('vanished');
  });

  it('HL-2 does not treat a suite that no longer starts as a test’s progress', () => {
    const seen = judgeRerun(before, { ended: 'absent', failure: null, suiteFailure: suite });
    const because = expect.stringContaining('no longer runs') as unknown;
    expect(seen).toMatchObject({ kind: 'still-failing', because });
  });

  it('CS-10 judges a failure of the suite itself by whether the suite fails the same way again', () => {
    expect(judgeRerun(suite, { ended: 'not-run', failure: null, suiteFailure: suite }).kind).toBe(
      'still-failing',
    );
    const other = { ...suite, signature: 'shop:Error:another' };
    expect(judgeRerun(suite, { ended: 'not-run', failure: null, suiteFailure: other }).kind).toBe('changed');
    expect(judgeRerun(suite, { ended: 'passed', ...nothing }).kind).toBe('green');
  });
});

const green: RunResult = {
  tests: ['passed'],
  causes: [],
  suiteRed: false,
  paused: false,
  interruptedBy: null,
  failOnHeal: false,
  failOnFlaky: false,
};
const cause = (verdict: RunResult['causes'][number]['verdict']) => ({ verdict });

it.each<[string, Partial<RunResult>, string, number]>([
  ['all passed', {}, 'green', 0],
  ['healed', { tests: ['passed', 'healed'], causes: [cause('healed')] }, 'green', 0],
  ['healed with failOnHeal', { tests: ['healed'], causes: [cause('healed')], failOnHeal: true }, 'green', 1],
  ['flaky', { tests: ['flaky'] }, 'green', 0],
  ['flaky with failOnFlaky', { tests: ['flaky'], failOnFlaky: true }, 'green', 1],
  ['a failed test', { tests: ['healed', 'failed'], causes: [cause('healed'), cause('failed')] }, 'red', 1],
  ['a test that no run reached', { tests: ['passed', 'not-run'] }, 'red', 1],
  ['a test that depends on a quarantined test', { tests: ['quarantined', 'not-run'] }, 'green', 0],
  ['a skipped test', { tests: ['passed', 'skipped'] }, 'green', 0],
  ['a suite that does not start', { tests: [], suiteRed: true, causes: [cause('failed')] }, 'red', 1],
  [
    'only the machine can be fixed',
    { tests: ['failed'], causes: [{ ...cause('failed'), environment: true }] },
    'escalated',
    3,
  ],
  [
    'its fix holds a secret',
    { tests: ['healed'], causes: [cause('healed')], isWithheld: true },
    'escalated',
    3,
  ],
  ['a person is needed', { tests: ['failed', 'escalated'], causes: [cause('escalated')] }, 'escalated', 3],
  [
    'a limit was reached',
    { tests: ['failed'], causes: [cause('escalated'), { ...cause('failed'), overBudget: true }] },
    'budget',
    4,
  ],
  [
    'no usable agent',
    { tests: ['failed'], causes: [cause('agent-unusable'), cause('escalated')] },
    'agent-unusable',
    5,
  ],
  ['Ctrl-C', { tests: ['failed'], interruptedBy: 'SIGINT' }, 'interrupted', 130],
  ['TERM', { tests: ['failed'], interruptedBy: 'SIGTERM' }, 'interrupted', 143],
])('CL-5 outcome and exit code: %s', (_, over, outcome, exitCode) => {
  expect(decideOutcome({ ...green, ...over })).toEqual({ outcome, exitCode });
});

const file = (name: string, durationMs: number): TestFile => ({
  file: `/project/tests/${name}.spec.ts`,
  ids: [`${name}-1`, `${name}-2`],
  durationMs,
});
const files = [file('admin', 4000), file('cart', 4000), file('search', 4000), file('order', 4000)];
const bounds = {
  healed: ['/project/tests/search.spec.ts'],
  changed: ['/project/src/cart/total.ts'],
  timeMs: 60_000,
  workers: 1,
};

const names = (some: readonly TestFile[]) => some.map((one) => one.ids[0]);

it('HN-6 runs everything if time allows, starting with tests near the change', () => {
  const chosen = chooseRegression(files, bounds);
  expect(names(chosen.files)).toEqual(['search-1', 'cart-1', 'admin-1', 'order-1']);
  expect(chosen.leftOut).toEqual([]);
});

it('HN-6 is limited by time, and says which tests it leaves out', () => {
  const chosen = chooseRegression(files, { ...bounds, timeMs: 9000 });
  expect(names(chosen.files)).toEqual(['search-1', 'cart-1']);
  expect(names(chosen.leftOut)).toEqual(['admin-1', 'order-1']);
});

it('HN-6 expects as many workers as the first run had', () => {
  expect(chooseRegression(files, { ...bounds, timeMs: 9000, workers: 2 }).leftOut).toEqual([]);
});
