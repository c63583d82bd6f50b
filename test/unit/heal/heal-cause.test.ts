import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../../src/core/escalation.js';
import { harmless } from '../../../src/guard/findings.js';
import { healCause } from '../../../src/heal/heal-cause.js';
import { noStore, type RunStore } from '../../../src/run/run-store.js';
import type { Session } from '../../../src/heal/session.js';
import type { KnownFailure } from '../../../src/store/store.js';
import {
  aBlame,
  aCause,
  aDiagnosed,
  aDiagnosis,
  aResult,
  aSuiteFailure,
  anAttempt,
  anError,
  anEscalation,
  aSuiteRun,
  aTestFailure,
  failing,
  someSettings,
} from '../../rig/builders.js';
import { tempDir } from '../../rig/temp-dir.js';
import { finished, healingSession as session, noChange } from '../../rig/healing-session.js';

const cause = aCause({ lead: failing('t1', 'boom') });

/** What is known about a failure that no earlier run has seen. */
const anUnknown: KnownFailure = {
  tries: { count: 0, failedFixes: 0 },
  tried: [],
  fix: null,
  guidance: null,
  decision: null,
  open: null,
};

describe('the loop for one cause', () => {
  it('HL-4 HL-5 HL-2 waits exactly 5 s and 10 s, deploys no third agent, and then fails', async () => {
    const { session: given, agents, clock } = await session(['boom', 'boom', 'boom']);
    const { attempts, end } = await healCause(given, cause);
    expect(clock.slept).toEqual([5000, 10_000]);
    expect(agents).toEqual(['code-review', 'code-review']);
    expect(attempts.map((one) => one.agent)).toEqual(['code-review', 'code-review', null]);
    expect(end).toEqual({ verdict: 'failed', reason: 'still failing after 3 retries' });
  });

  it('HL-1 counts the re-runs, and ends healed when one passes', async () => {
    const { session: given, events } = await session(['boom', null]);
    const { attempts, end } = await healCause(given, cause);
    expect(end.verdict).toBe('healed');
    expect(attempts.map((one) => one.end.kind)).toEqual(['still-failing', 'green']);
    expect(events.map((event) => event.type)).toContain('agent.retrying');
  });

  it.each([
    ['.env', { ignored: ['.env'] }],
    ['1, 2, 3, 4, 5 and 2 more', { changedInProject: ['1', '2', '3', '4', '5', '6', '7'] }],
  ])('HN-1 names what its agent did beside its fix: %s', async (named, work) => {
    const { session: given, events } = await session(['boom', 'boom', 'boom']);
    const { workspace } = given;
    const collect = async () => ({ ...noChange, ...work });
    await healCause({ ...given, workspace: { ...workspace, collect } }, cause);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'run.warning', message: expect.stringContaining(`: ${named}`) }),
    );
  });

  it('HL-3 ends as soon as another error appears twice, and leaves its fix in place for the next agent', async () => {
    const { session: given, agents } = await session(['crash', 'crash']);
    const { attempts, end } = await healCause(given, cause);
    expect(end.verdict).toBe('superseded');
    expect(attempts).toMatchObject([{ end: { kind: 'changed' } }]);
    expect(agents).toHaveLength(1);
  });

  it.each([
    ['the test is green in the next run', ['crash', null], 'green'],
    ['the old error is back in the next run', ['crash', 'boom'], 'still-failing'],
    ['the next run shows yet another one', ['crash', 'bang'], 'still-failing'],
  ])('HL-3 does not believe another error at first sight: %s', async (_, reruns, kind) => {
    const { session: given } = await session(reruns);
    const { attempts } = await healCause(given, cause);
    expect(attempts[0]).toMatchObject({ end: { kind } });
  });

  it('HL-3 does not believe at first sight that a fix broke the suite', async () => {
    const suite = aDiagnosed({ failure: aSuiteFailure(), signature: 'shop:Error:stopped' });
    let runs = 0;
    const { session: given } = await session([null, null], {
      runAgain: async () => ((runs += 1), aSuiteRun({ tests: runs > 1 ? [aResult('t1')] : [] })),
      diagnose: async () => (runs > 1 ? [] : [suite]),
    });
    const { attempts } = await healCause(given, cause);
    expect(attempts).toMatchObject([{ end: { kind: 'green' } }]);
  });

  it('HL-3 counts another error as nothing if no agent had changed a thing', async () => {
    const { session: given, agents } = await session(['boom', 'boom', 'crash']);
    const { attempts, end } = await healCause(given, cause);
    expect(agents).toHaveLength(2);
    expect(attempts.at(-1)).toMatchObject({ agent: null, end: { kind: 'still-failing' } });
    expect(end.verdict).toBe('failed');
  });

  it('HN-9 does not count the return of an error that was fixed before as progress: A, B, A stops', async () => {
    const { session: given } = await session(['crash', 'crash', 'crash']);
    const before = new Set([failing('t1', 'crash').signature]);
    const { attempts, end } = await healCause(given, cause, { earlier: before });
    expect(attempts[0]?.end).toMatchObject({
      kind: 'still-failing',
      because: expect.stringContaining('fixed before came back') as unknown,
    });
    expect(end.verdict).toBe('failed');
  });

  it.each([
    ['timed out', { kind: 'timed-out', afterMs: 300_000 }],
    ['crashed', { kind: 'signalled', signal: 'SIGSEGV' }],
    ['exited non-zero', { kind: 'exited', exitCode: 3 }],
    ['could not start', { kind: 'spawn-failed', reason: 'ENOENT' }],
  ] as const)(
    'AG-4 AG-5 re-runs the test even if the agent %s, in case it fixed something',
    async (_, agentEnd) => {
      const { session: given } = await session([null], {
        runAgent: async () => ({ ...finished, end: agentEnd }),
      });
      const { attempts, end } = await healCause(given, cause);
      expect(attempts).toMatchObject([{ exit: agentEnd.kind, end: { kind: 'green' } }]);
      expect(end.verdict).toBe('healed');
    },
  );

  it('AG-7 spends no re-run and no retry if the program cannot work at all', async () => {
    const agentEnd = { kind: 'unusable', reason: 'Not logged in', remedy: 'Run claude /login.' } as const;
    const { session: given } = await session([], { runAgent: async () => ({ ...finished, end: agentEnd }) });
    const { attempts, end } = await healCause(given, cause);
    expect(attempts).toMatchObject([
      { exit: 'unusable', end: { kind: 'unusable', because: 'Not logged in' } },
    ]);
    expect(end).toEqual({ verdict: 'agent-unusable', reason: 'Not logged in. Run claude /login.' });
  });

  const violation = {
    rule: 'assertion-removed',
    file: 'tests/a.spec.ts',
    line: 3,
    before: 'await expect(x).toBeVisible();',
    after: null,
    says: 'an assertion was removed',
  };

  it('HN-3 reverts a weakened test without a re-run, tells the agent at once, and continues', async () => {
    const seen: string[] = [];
    const verdicts = [[violation], []];
    const guard: Session['guard'] = async () => ({ ...harmless, violations: verdicts.shift() ?? [] });
    const { session: given, events, clock } = await session([null], { guard });
    const { attempts, end } = await healCause(
      { ...given, runAgent: async ({ prompt }) => (seen.push(prompt), finished) },
      cause,
    );
    expect(attempts.map((one) => one.end.kind)).toEqual(['rejected', 'green']);
    expect(attempts[0]?.end).toMatchObject({ violations: [violation] });
    const violations = [violation];
    expect(events).toContainEqual({ type: 'attempt.rejected', causeId: 'c1', attempt: 1, violations });
    expect(clock.slept).toEqual([]);
    expect(seen[0]).not.toContain('assertion-removed');
    expect(seen[1]).toContain('tests/a.spec.ts:3 assertion-removed');
    expect(seen[1]).toContain('await expect(x).toBeVisible();');
    expect(end.verdict).toBe('healed');
  });

  it('HN-3 gives up a cause after a second rejection, and never runs a test with a rejected change', async () => {
    const runAgain = async () => Promise.reject(new Error('nothing may be run'));
    const { session: given, agents } = await session([], {
      guard: async () => ({ ...harmless, violations: [violation] }),
      runAgain,
    });
    const { attempts, end } = await healCause(given, cause);
    expect(attempts.map((one) => one.end.kind)).toEqual(['rejected', 'rejected']);
    expect(agents).toHaveLength(2);
    expect(end.verdict).toBe('rejected');
  });

  const config = { file: 'src/a.ts', why: 'it is a Playwright config', instead: null };
  const difference = {
    test: 'adds',
    file: 'src/a.ts',
    line: 3,
    strength: 'weaker',
    before: ['expect(1).toBe(2)'],
    after: [],
  } as const;

  it.each([
    ['what no agent may change', 'whole', { cut: [config] }],
    ['what changes what the tests expect', 'tests', { differences: [difference] }],
  ])('HN-4 BL-6 %s is left out, proven, and asked of a person: %s', async (_, side, found) => {
    const guard: Session['guard'] = async () => ({ ...harmless, ...found });
    const { session: given, events, agents } = await session([null, null, null], { guard });
    const { attempts, end } = await healCause(given, cause);
    expect(attempts).toMatchObject([
      { end: { kind: 'offered', side, proof: ['red', 'red', 'green'] }, cut: [{ file: 'src/a.ts' }] },
    ]);
    expect(attempts[0]?.files).toMatchObject([{ path: 'src/a.ts' }]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'attempt.cut', attempt: 1 }));
    expect(agents).toHaveLength(1);
    expect(end.verdict).toBe('escalated');
  });

  it.each([
    ['its tests are red with it', ['boom', null], {}],
    ['the tests are the specification', [null], { intent: 'tests' }],
  ] as const)('HN-4 BL-6 nobody is asked about what was left out if %s', async (_, reruns, verify) => {
    let made = 0;
    const base = someSettings();
    const { session: given, agents } = await session([...reruns], {
      settings: { ...base, verify: { ...base.verify, ...verify } },
      guard: async () => ({ ...harmless, differences: (made += 1) === 1 ? [difference] : [] }),
    });
    const { attempts, end } = await healCause(given, cause);
    expect(attempts).toMatchObject([
      { end: { kind: 'still-failing' }, cut: [{ file: 'src/a.ts' }] },
      { end: { kind: 'green' } },
    ]);
    expect(agents).toHaveLength(2);
    expect(end.verdict).toBe('healed');
  });

  it.each([
    [
      'asks',
      'a change of the app broke it, and the tests are green if they follow the page',
      [null],
      aBlame(),
      'escalated',
    ],
    ['does not ask', 'they are red all the same', ['boom'], aBlame(), 'failed'],
    ['does not ask', 'nobody knows what broke it', [null], null, 'failed'],
  ] as const)('BL-6 %s about what no agent healed: %s', async (_, __, last, blame, verdict) => {
    const file = path.join(tempDir(), 'a.spec.ts');
    writeFileSync(file, "expect(text).toBe('old');\n");
    const message = 'Error: boom\n\nExpected: "old"\nReceived: "new"';
    const location = { file, line: 1, column: 1 };
    const lead = failing('t1', 'boom', {
      failure: aTestFailure({ errors: [anError(message, { location })] }),
    });
    const { session: given } = await session(['boom', 'boom', 'boom', ...last]);
    const { attempts, end } = await healCause(given, aCause({ lead, ...(blame ? { blame } : {}) }));
    expect(end.verdict).toBe(verdict);
    const offers = attempts.flatMap(({ end: one }) => (one.kind === 'offered' ? one.side : []));
    expect(offers).toEqual(verdict === 'escalated' ? ['tests'] : []);
  });

  it('HN-4 ME-7 tests that a person has opened may change: it is named, and healed', async () => {
    const known = { ...anUnknown, decision: { chosen: null, allows: 'tests' } } as const;
    const asked: unknown[] = [];
    const { session: given } = await session([null], {
      store: { ...noStore, recordFailure: async () => known },
      guard: async ({ tests }) => (asked.push(tests), { ...harmless, differences: [difference] }),
    });
    const { attempts, end } = await healCause(given, cause);
    expect(asked).toEqual(['open']);
    expect(attempts).toMatchObject([{ end: { kind: 'green' }, notes: [{ file: 'src/a.ts', line: 3 }] }]);
    expect(end.verdict).toBe('healed');
  });

  it('CS-7 HN-4 deploys the agent of the alternative class second, and tells the guard that of the failure', async () => {
    const lead = failing('t1', 'boom', {
      diagnosis: aDiagnosis({ category: 'runtime-error', alternatives: ['ui-error'] }),
    });
    const asked: string[] = [];
    const guard: Session['guard'] = async ({ category }) => (asked.push(category), harmless);
    const diagnose = async () => [lead];
    const { session: given, agents } = await session(['boom', 'boom', 'boom'], { diagnose, guard });
    await healCause(given, aCause({ lead }));
    expect(agents).toEqual(['debugger', 'code-review']);
    expect(asked).toEqual(['runtime-error', 'runtime-error']);
  });

  it('AG-10 reverts the unproven change when it is interrupted during the re-run', async () => {
    const controller = new AbortController();
    const { session: given } = await session(['boom'], { signal: controller.signal });
    const runAgain = async () => (controller.abort(), aSuiteRun());
    const { attempts, end } = await healCause({ ...given, runAgain }, cause);
    expect(attempts).toMatchObject([{ end: { kind: 'interrupted' } }]);
    expect(end.verdict).toBe('interrupted');
  });

  it('HL-9 treats a failing verify.prepare as a build that the fix broke', async () => {
    const suite = aDiagnosed({
      failure: { scope: 'suite', errors: [], stderr: '' },
      signature: 'shop:Error:build',
      diagnosis: aDiagnosis({ category: 'build-error' }),
    });
    const { session: given } = await session([], {
      prepare: async () => 'src/a.ts(1,1): error TS1005',
      diagnose: async (run) => (run.suiteFailure?.stderr.includes('TS1005') ? [suite] : []),
    });
    const { attempts } = await healCause(given, cause);
    expect(attempts[0]?.end).toMatchObject({
      kind: 'still-failing',
      because: expect.stringContaining('the suite no longer runs') as unknown,
    });
  });
});

describe('the loop with a store', () => {
  const asked: Question[] = [];
  const memory = (known: Partial<KnownFailure> = {}): RunStore & { steps: string[] } => {
    const steps: string[] = [];
    return {
      ...noStore,
      steps,
      recordFailure: async () => ({ ...anUnknown, ...known }),
      attemptStarted: async ({ n, agent }) => {
        steps.push(`started ${n} ${agent}`);
        return `id${n}`;
      },
      attemptFinished: async (id, attempt) => void steps.push(`finished ${id} ${attempt.end.kind}`),
      escalate: async (question) => {
        asked.push(question);
        return anEscalation({ ...question, id: 'e5ca1a7e' });
      },
    };
  };

  it('ME-8 stores an attempt before its agent starts and once it is decided; only the proof decides a green one', async () => {
    const kept = memory();
    const { session: given } = await session(['boom', null], { store: kept });
    await healCause(given, cause);
    expect(kept.steps).toEqual([
      'started 1 code-review',
      'finished id1 still-failing',
      'started 2 code-review',
    ]);
  });

  it('ME-2 ME-5 asks a person if earlier runs have used up the attempts, and says what was tried', async () => {
    const used = { tries: { count: 3, failedFixes: 1 }, tried: [anAttempt()] };
    const { session: given, agents } = await session([], { store: memory(used) });
    const { end } = await healCause(given, cause);
    expect(end).toMatchObject({ verdict: 'escalated' });
    expect(agents).toEqual([]);
    expect(asked.at(-1)?.tried).toEqual([
      '/debugger changed src/a.ts: still red, so the change was reverted.',
    ]);
  });

  it.each(['ui-error', 'build-error'] as const)(
    'ME-8 says that a heal did not hold, unless the fault of that message was of another class: %s',
    async (category) => {
      const fix = {
        runId: 'r1',
        healedAt: '',
        category,
        agent: null,
        summary: null,
        files: [],
        patch: null,
        times: 1,
      };
      const { session: given, events } = await session([null], { store: memory({ fix }) });
      await healCause(given, cause);
      const told = events.filter(({ type }) => type === 'cause.came_back');
      expect(told).toEqual(category === 'ui-error' ? [{ type: 'cause.came_back', causeId: 'c1', fix }] : []);
    },
  );
});

describe('the built-in fixer before the agents', () => {
  function fixer(summary = 'the locator follows') {
    const file = path.join(tempDir(), 'a.ts');
    writeFileSync(file, 'old');
    return async () => ({ summary, files: [{ file, before: 'old', after: 'new' }] });
  }

  it('BF-5 uses no retry and does not wait if its fix fails, and tells the agent', async () => {
    const { session: given, agents, clock } = await session(Array(4).fill('boom'), { propose: fixer() });
    const { attempts, end } = await healCause(given, cause);
    expect(attempts.map((one) => one.agent)).toEqual(['built-in', 'code-review', 'code-review', null]);
    expect(clock.slept).toEqual([5000, 10_000]);
    expect(end).toEqual({ verdict: 'failed', reason: 'still failing after 3 retries' });
    expect(agents).toHaveLength(2);
    expect(attempts[0]).toMatchObject({ claim: { summary: 'the locator follows' } });
  });

  it('BF-5 continues if its fix was rejected, which is not counted as a rejection of an agent', async () => {
    const violation = { rule: 'x', file: 'a.ts', line: 1, before: null, after: null, says: 'no' };
    const guard: Session['guard'] = async () => ({ ...harmless, violations: [violation] });
    const { session: given } = await session([], { propose: fixer(), guard });
    const { attempts, end } = await healCause(given, cause);
    expect(attempts.map((one) => [one.agent, one.end.kind])).toEqual([
      ['built-in', 'rejected'],
      ['code-review', 'rejected'],
      ['code-review', 'rejected'],
    ]);
    expect(end.verdict).toBe('rejected');
  });

  it('BF-1 skips classes that are left to people, and fixes that it tried in an earlier run', async () => {
    const routes = { ...someSettings().routes, 'ui-error': [] };
    const unrouted = await session([], { propose: fixer(), settings: someSettings({ routes }) });
    expect((await healCause(unrouted.session, cause)).attempts).toEqual([]);
    const tried = [
      anAttempt({
        runner: 'built-in',
        agent: 'built-in',
        claim: { status: 'fixed', summary: 'the locator follows' },
      }),
    ];
    const known = { ...(await noStore.recordFailure('')), tried };
    const again = await session([null], {
      propose: fixer(),
      store: { ...noStore, recordFailure: async () => known },
    });
    expect((await healCause(again.session, cause)).attempts.map((one) => one.agent)).toEqual(['code-review']);
  });

  it('BF-1 fails what it cannot fix if there is no agent program, and says so', async () => {
    const settings = someSettings();
    const agents = Object.fromEntries(
      Object.entries(settings.agents).map(([name, agent]) => [name, { ...agent, runner: 'built-in' }]),
    );
    const { session: given } = await session([], {
      propose: async () => null,
      settings: { ...settings, agents },
    });
    const { end, attempts } = await healCause(given, cause);
    expect({ verdict: end.verdict, attempts }).toEqual({ verdict: 'failed', attempts: [] });
    expect(end.reason).toContain('no agent program is set up');
  });
});
