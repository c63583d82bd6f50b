import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentEnd, AgentRun } from '../../../src/model/attempt.js';
import type { Question } from '../../../src/model/escalation.js';
import { noFindings } from '../../../src/guard/findings.js';
import { createViolation } from '../../../src/guard/rules.js';
import {
  createFixerProposer,
  createExpectationPatch,
  wrapProposal,
} from '../../../src/clients/fixer/fixes.js';
import { proposePatches } from '../../../src/clients/patches.js';
import type { Cause } from '../../../src/model/cause.js';
import { type Change, openContentStore, storeChange } from '../../../src/workspace/change.js';
import { hashContent } from '../../../src/workspace/file-state.js';
import { startTrial } from '../../../src/heal/attempt/trial.js';
import { applyProposal } from '../../../src/heal/attempt/proposed.js';
import { type RestartOptions, runWithRestarts } from '../../../src/heal/attempt/start-agent.js';
import { addsExpectation, changesExpectation } from '../../../src/heal/offers.js';
import type { Session } from '../../../src/heal/session.js';
import { readFix } from '../../../src/clients/publish/fix.js';
import { noStore } from '../../../src/store/warning-store.js';
import { setUpAgent } from '../../../src/heal/attempt/start-agent.js';
import { tryPatchForReview } from '../../../src/heal/offers.js';
import type { Store } from '../../../src/store/store.js';
import type { FailureHistory } from '../../../src/store/store.js';
import {
  aCause,
  aDiagnosed,
  aDiagnosis,
  aSuiteRun,
  aTestFailure,
  anAttempt,
  anError,
  anEscalation,
  failing,
  someSettings,
} from '../../rig/builders.js';
import {
  completedRun,
  healAlone,
  healingSession,
  healingSession as session,
  noChange,
} from '../../rig/healing-session.js';
import { aReport, aReportTest } from '../../rig/a-report.js';
import { writeStoredRun } from '../../rig/events-of-report.js';
import { gitRepository } from '../../rig/git-repository.js';
import { tempDir } from '../../rig/temp-dir.js';

const cause = aCause({ lead: failing('t1', 'boom') });

/** A session in a repository whose app, and a test, have changed since its first commit, where an earlier run was green. */
function inChangedApp(given: Session) {
  const states = ['green', 'red'].map((text) => ({
    'app.ts': `${text}\n`,
    'tests/a.spec.ts': 'red',
    'tests/b.spec.ts': text,
  }));
  const { dir, git } = gitRepository(...states.map((files) => ({ ...files, '.gitignore': '.self-heal/\n' })));
  const tests = [aReportTest({ id: 't1', verdict: 'passed' })];
  writeStoredRun(dir, aReport({ commit: git('rev-parse', 'HEAD~1'), causes: [], tests }));
  const isTest = (file: string) => file.startsWith('tests/');
  return { ...given, cwd: dir, workspace: { ...given.workspace, root: dir }, isTest };
}

/** What is known about a failure that no earlier run has seen. */
const anUnknown: FailureHistory = {
  tries: { count: 0, failedFixes: 0 },
  failedAttempts: [],
  fix: null,
  guidance: null,
  decision: null,
  openEscalation: null,
};

describe('the loop for one cause', () => {
  it('HL-4 HL-5 HL-2 fails after waits of exactly 5 s and 10 s, without a third agent', async () => {
    const { session: given, agents, clock } = await session(['boom', 'boom', 'boom']);
    const { attempts, end } = await healAlone(given, cause);
    expect(clock.slept).toEqual([5000, 10_000]);
    expect(agents).toEqual(['code-review', 'code-review']);
    expect(attempts.map((one) => one.agent)).toEqual(['code-review', 'code-review', null]);
    expect(end).toEqual({ verdict: 'failed', reason: 'still failing after 3 retries' });
  });

  it('HL-1 counts the re-runs, and ends healed when one passes', async () => {
    const { session: given, events } = await session(['boom', null]);
    const { attempts, end } = await healAlone(given, cause);
    expect(end.verdict).toBe('healed');
    expect(attempts.map((one) => one.end.kind)).toEqual(['still-failing', 'green']);
    expect(events.map((event) => event.type)).toContain('agent.retrying');
  });

  it.each([['1, 2, 3, 4, 5 and 2 more', { changedInProject: ['1', '2', '3', '4', '5', '6', '7'] }]])(
    'HN-1 names other things that its agent did besides the fix: %s',
    async (named, work) => {
      const { session: given, events } = await session(['boom', 'boom', 'boom']);
      const { workspace } = given;
      const collectChanges = async () => ({ ...noChange, ...work });
      await healAlone({ ...given, workspace: { ...workspace, collectChanges } }, cause);
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'run.warning', message: expect.stringContaining(`: ${named}`) }),
      );
    },
  );

  it('HL-3 ends as soon as another error appears twice, and leaves its fix in place for the next agent', async () => {
    const { session: given, agents } = await session(['crash', 'crash']);
    const { attempts, end } = await healAlone(given, cause);
    expect(end.verdict).toBe('superseded');
    expect(attempts).toMatchObject([{ end: { kind: 'changed' } }]);
    expect(agents).toHaveLength(1);
  });

  it.each([
    ['the test is green in the next run', ['crash', null], 'green'],
    ['the old error is back in the next run', ['crash', 'boom'], 'still-failing'],
  ])('HL-3 does not accept another error after one run: %s', async (_, reruns, kind) => {
    const { session: given } = await session(reruns);
    const { attempts } = await healAlone(given, cause);
    expect(attempts[0]).toMatchObject({ end: { kind } });
  });

  it('HN-9 a returning error that was fixed before is no progress: A, B, A stops', async () => {
    const { session: given } = await session(['crash', 'crash', 'crash']);
    const before = new Set([failing('t1', 'crash').signature]);
    const { attempts, end } = await healAlone(given, cause, { earlierSignatures: before });
    expect(attempts[0]?.end).toMatchObject({
      kind: 'still-failing',
      because: expect.stringContaining('fixed before came back') as unknown,
    });
    expect(end.verdict).toBe('failed');
  });

  it.each([
    ['timed out', { kind: 'timed-out', afterMs: 300_000 }],
    ['crashed', { kind: 'signalled', signal: 'SIGSEGV' }],
  ] as const)(
    'AG-4 AG-5 re-runs the test even if the agent %s, in case it fixed something',
    async (_, agentEnd) => {
      const { session: given } = await session([null], {
        runAgent: async () => ({ ...completedRun, end: agentEnd }),
      });
      const { attempts, end } = await healAlone(given, cause);
      expect(attempts).toMatchObject([{ exit: agentEnd.kind, end: { kind: 'green' } }]);
      expect(end.verdict).toBe('healed');
    },
  );

  it('AG-7 spends no re-run and no retry if the program cannot work at all', async () => {
    const agentEnd = { kind: 'unusable', reason: 'Not logged in', remedy: 'Run claude /login.' } as const;
    const { session: given } = await session([], {
      runAgent: async () => ({ ...completedRun, end: agentEnd }),
    });
    const { attempts, end } = await healAlone(given, cause);
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
    const guard: Session['guard'] = async () => ({ ...noFindings, violations: verdicts.shift() ?? [] });
    const { session: given, events, clock } = await session([null], { guard });
    const { attempts, end } = await healAlone(
      { ...given, runAgent: async ({ prompt }) => (seen.push(prompt), completedRun) },
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

  const config = { file: 'src/a.ts', why: 'it is a Playwright config', instead: null };
  const difference = {
    test: 'adds',
    file: 'src/a.ts',
    line: 3,
    strength: 'weaker',
    before: ['expect(1).toBe(2)'],
    after: [],
    why: null,
  } as const;

  it.each([
    ['an edit that no agent may make', 'whole', { cut: [config] }],
    ['an edit of what the tests expect', 'tests', { differences: [difference] }],
  ])('HN-4 BL-6 leaves out %s, proves it, and puts it to a person: %s', async (_, side, found) => {
    const guard: Session['guard'] = async () => ({ ...noFindings, ...found });
    const { session: given, events, agents } = await session([null, null, null], { guard });
    const { attempts, end } = await healAlone(given, cause);
    expect(attempts).toMatchObject([
      { end: { kind: 'offered', side, proof: ['red', 'red', 'green'] }, cut: [{ file: 'src/a.ts' }] },
    ]);
    expect(attempts[0]?.files).toMatchObject([{ path: 'src/a.ts' }]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'attempt.cut', attempt: 1 }));
    expect(agents).toHaveLength(1);
    expect(end.verdict).toBe('escalated');
  });

  it('BL-6 HL-10 a person decides on a patch that deletes the test if the app has changed', async () => {
    const guard: Session['guard'] = async () => ({ ...noFindings, differences: [difference] });
    const gone = async () => aSuiteRun({ tests: [] });
    const { session: given } = await session([], { guard, suite: { rerun: gone } });
    const blamed = await healAlone(inChangedApp(given), cause);
    const because = expect.stringContaining('"adds" without expect(1).toBe(2)') as unknown;
    expect(blamed.attempts[0]?.end).toEqual({
      kind: 'offered',
      side: 'tests',
      because,
      proof: ['red', 'red'],
    });
    expect(blamed.end.verdict).toBe('escalated');
    const unknown = await healAlone(given, cause);
    expect(unknown.attempts[0]?.end.kind).toBe('still-failing');
  });

  it.each([
    ['does not ask', 'expectation', 'await expect(total).toHaveText(/./);\n', { kind: 'still-failing' }],
    ['asks', 'action', "await page.getByRole('link').first().click();\n", { kind: 'offered', side: 'tests' }],
  ])(
    'BL-6 %s about an agent’s new %s in a test that is also green with the old app',
    async (_, __, text, end) => {
      const guard: Session['guard'] = async () => ({ ...noFindings, differences: [difference] });
      const greens = Array.from({ length: 12 }, () => null);
      const given = inChangedApp((await session(greens, { guard })).session);
      const collectChanges = given.workspace.collectChanges.bind(given.workspace);
      const hash = await openContentStore(given.folder.dir).put(Buffer.from(text));
      given.workspace.collectChanges = async (...args) => {
        const work = await collectChanges(...args);
        const edits = work.change?.edits.map((edit) => ({
          ...edit,
          after: { kind: 'file', hash, mode: 0o644 },
        }));
        return { ...work, change: { ...work.change, edits } } as typeof work;
      };
      const { attempts } = await healAlone(given, cause);
      expect(attempts[0]?.end).toMatchObject(end);
    },
  );

  it('HN-4 a question quotes the removed steps of a test without their last semicolon, in one sentence', async () => {
    const removed = { ...difference, before: ['const sum = 1;', 'expect(sum).toBe(2);'] };
    const guard: Session['guard'] = async () => ({ ...noFindings, differences: [removed] });
    const { session: given } = await session([null, null, null], { guard });
    const { end } = await healAlone(given, cause);
    expect(end.reason).toContain('"adds" without const sum = 1; expect(sum).toBe(2): may');
  });

  it.each([
    ['its tests are red with it', ['boom', null], {}],
    ['the tests are the specification', [null], { intent: 'tests' }],
  ] as const)(
    'HN-4 BL-6 nobody is asked about the left-out part of a patch if %s',
    async (_, reruns, verify) => {
      let made = 0;
      const base = someSettings();
      const { session: given, agents } = await session([...reruns], {
        settings: { ...base, verify: { ...base.verify, ...verify } },
        guard: async () => ({ ...noFindings, differences: (made += 1) === 1 ? [difference] : [] }),
      });
      const { attempts, end } = await healAlone(given, cause);
      expect(attempts).toMatchObject([
        { end: { kind: 'still-failing' }, cut: [{ file: 'src/a.ts' }] },
        { end: { kind: 'green' } },
      ]);
      expect(agents).toHaveLength(2);
      expect(end.verdict).toBe('healed');
    },
  );

  it.each([
    [
      'asks',
      'the app has changed since, and the tests are green if they follow the page',
      [null, 'boom'],
      true,
      'escalated',
    ],
    ['does not ask', 'the tests stay red even so', ['boom', 'boom'], true, 'failed'],
    ['does not ask', 'the app is unchanged since the tests were green', [null], false, 'failed'],
  ] as const)(
    'BL-6 %s about a failure that no agent healed: %s',
    async (_, __, last, hasChanged, verdict) => {
      const { session: made } = await session(['boom', 'boom', 'boom', ...last]);
      const given = hasChanged ? inChangedApp(made) : made;
      const { root } = given.workspace;
      const file = path.join(hasChanged ? root : tempDir(), 'a.spec.ts');
      writeFileSync(file, "expect(text).toBe('old');\n");
      const message = 'Error: boom\n\nExpected: "old"\nReceived: "new"';
      const location = { file, line: 1, column: 1 };
      const lead = failing('t1', 'boom', {
        failure: aTestFailure({ errors: [anError(message, { location })] }),
      });
      const contents = openContentStore(given.folder.dir);
      const hooks = {
        proposeExpectations: (itsCause: Cause) => createExpectationPatch(itsCause, { root, contents }),
      };
      const { attempts, end } = await healAlone({ ...given, hooks }, aCause({ lead }));
      expect(end.verdict).toBe(verdict);
      const offers = attempts.flatMap(({ end: one }) => (one.kind === 'offered' ? one.side : []));
      expect(offers).toEqual(verdict === 'escalated' ? ['tests', 'app'] : []);
    },
  );

  it.each([
    ['its test is red there', 'tests/a.spec.ts', 'boom', 'offered', ['green\n']],
    ['its test is green there, too', 'tests/a.spec.ts', null, 'still-failing', ['green\n']],
    ['not if the test has changed, too', 'tests/b.spec.ts', null, 'offered', []],
  ] as const)(
    'BL-6 a patch of tests is tried at the last green state of the app: %s',
    async (_, file, before, ended, tried) => {
      const { session: made } = await session([null, before, 'boom']);
      const given = inChangedApp(made);
      const contents = openContentStore(given.folder.dir);
      const stateOf = async (text: string) =>
        ({ kind: 'file', mode: 0o644, hash: await contents.put(Buffer.from(text)) }) as const;
      const edits = [{ path: file, before: await stateOf('red'), after: await stateOf('followed') }];
      const applied: Change[] = [];
      const apply: typeof given.workspace.apply = async (change) => {
        applied.push(change);
        await storeChange(given.folder.dir, change);
        return given.workspace.apply(change);
      };
      const workspace = { ...given.workspace, apply };
      const patch = { side: 'tests', summary: 'follows the page', edits } as const;
      const pending = { ...anAttempt(), agent: 'built-in' };
      const offered = await tryPatchForReview({ ...given, workspace }, cause, { pending, patch });
      expect(offered?.end.kind).toBe(ended);
      const ofApp = applied.flatMap((change) => change.edits).filter((edit) => edit.path === 'app.ts');
      const hashes = tried.map((text) => hashContent(Buffer.from(text)));
      expect(ofApp.map(({ after }) => after?.hash)).toEqual(hashes);
    },
  );

  it('BL-4 BL-6 a question offers the app’s last green state if no change is blamed', async () => {
    const { session: made } = await session(['boom', null]);
    const { claim, ...ran } = {
      ...completedRun,
      claim: { status: 'needs-person', summary: 'which?' } as const,
    };
    const given = inChangedApp({ ...made, runAgent: async () => ({ ...ran, claim }) });
    const collect = async () => noChange;
    const lead = failing('t1', 'Error: expect(received).toBe(expected)');
    const workspace = { ...given.workspace, collectChanges: collect };
    const { attempts } = await healAlone({ ...given, workspace }, aCause({ lead }));
    const offers = attempts.flatMap(({ end }) => (end.kind === 'offered' ? end : []));
    const because = expect.stringContaining('what has changed since its tests were green') as unknown;
    expect(offers).toMatchObject([{ side: 'app', because }]);
  });

  it('HN-7 BL-1 tests that ran only with a patch awaiting a person do not count as passed', async () => {
    const { session: given, events } = await session([null, null, null]);
    const patch = { side: 'app', summary: 'takes it back', edits: [] } as const;
    const pending = { ...anAttempt(), agent: 'built-in' };
    const offered = await tryPatchForReview(given, cause, { pending, patch });
    expect(offered?.end).toMatchObject({ kind: 'offered' });
    expect(events.filter(({ type }) => type === 'tests.seen')).toEqual([]);
  });

  it('HN-5 BL-6 a green run without the tests that it needs requires no extra green runs of a patch', async () => {
    const { session: given } = await session([null, null]);
    const red = failing('t1', 'boom', { needs: ['t2'] });
    for (const failure of [red, null, red])
      given.observations.add(
        new Map([['t1', { ended: failure ? 'failed' : 'passed', failure, suiteFailure: null }]]),
      );
    const patch = { side: 'app', summary: 'takes it back', edits: [] } as const;
    const pending = { ...anAttempt(), agent: 'built-in' };
    const offered = await tryPatchForReview(given, aCause({ lead: red }), { pending, patch });
    expect(offered?.end).toMatchObject({ kind: 'offered', proof: ['red', 'green', 'red', 'green'] });
  });

  it('HN-4 ME-7 heals with changes to tests that a person has opened, and names them', async () => {
    const known = { ...anUnknown, decision: { chosen: null, allows: 'tests' } } as const;
    const asked: unknown[] = [];
    const { session: given } = await session([null], {
      store: { ...noStore, recordFailure: async () => known },
      guard: async ({ tests }) => (asked.push(tests), { ...noFindings, differences: [difference] }),
    });
    const { attempts, end } = await healAlone(given, cause);
    expect(asked).toEqual(['open']);
    expect(attempts).toMatchObject([{ end: { kind: 'green' }, notes: [{ file: 'src/a.ts', line: 3 }] }]);
    expect(end.verdict).toBe('healed');
  });

  it('AG-10 reverts the unproven change when it is interrupted during the re-run', async () => {
    const controller = new AbortController();
    const { session: given } = await session(['boom'], { signal: controller.signal });
    const rerun = async () => (controller.abort(), aSuiteRun());
    const { attempts, end } = await healAlone({ ...given, suite: { ...given.suite, rerun } }, cause);
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
      suite: { prepare: async () => 'src/a.ts(1,1): error TS1005' },
      diagnostics: {
        diagnose: async (run) => (run.suiteFailure?.stderr.includes('TS1005') ? [suite] : []),
      },
    });
    const { attempts } = await healAlone(given, cause);
    expect(attempts[0]?.end).toMatchObject({
      kind: 'still-failing',
      because: expect.stringContaining('the suite no longer runs') as unknown,
    });
  });
});

describe('the loop with a store', () => {
  const asked: Question[] = [];
  const memory = (known: Partial<FailureHistory> = {}): Store & { steps: string[] } => {
    const steps: string[] = [];
    const ids = new Map<string, number>();
    return {
      ...noStore,
      steps,
      recordFailure: async () => ({ ...anUnknown, ...known }),
      startAttempt: async ({ id, n, agent }) => {
        ids.set(id, n);
        steps.push(`started ${n} ${agent}`);
      },
      finishAttempt: async (id, attempt) => void steps.push(`finished ${ids.get(id)} ${attempt.end.kind}`),
      escalate: async (question) => {
        asked.push(question);
        return anEscalation({ ...question, id: 'e5ca1a7e' });
      },
    };
  };

  it('ME-8 stores an attempt before its agent starts, and once it is decided', async () => {
    const kept = memory();
    const { session: given } = await session(['boom', null], { store: kept });
    await healAlone(given, cause);
    expect(kept.steps).toEqual([
      'started 1 code-review',
      'finished 1 still-failing',
      'started 2 code-review',
    ]);
  });

  it('ME-2 ME-5 asks a person if earlier runs have used up the attempts, and says what was tried', async () => {
    const used = { tries: { count: 3, failedFixes: 1 }, failedAttempts: [anAttempt()] };
    const { session: given, agents } = await session([], { store: memory(used) });
    const { end } = await healAlone(given, cause);
    expect(end).toMatchObject({ verdict: 'escalated' });
    expect(agents).toEqual([]);
    expect(asked.at(-1)?.tried).toEqual([
      '/debugger changed src/a.ts: still red, so the change was reverted.',
    ]);
  });

  it.each(['ui-error', 'build-error'] as const)(
    'ME-8 reports that a heal did not hold, unless the fault had another class: %s',
    async (category) => {
      const fix = {
        runId: 'r1',
        healedAt: '',
        category,
        agent: null,
        summary: null,
        files: [{ path: 'src/a.ts', added: 1, removed: 1 }],
        patch: null,
        times: 1,
      };
      const { session: given, events } = await session([null], { store: memory({ fix }) });
      await healAlone(given, cause);
      const told = events.filter(({ type }) => type === 'cause.came_back');
      expect(told).toEqual(category === 'ui-error' ? [{ type: 'cause.came_back', causeId: 'c1', fix }] : []);
    },
  );
});

describe('the built-in fixer before the agents', () => {
  const unexpected = (warning: string) => expect.fail(warning);
  function fixer(summary = 'the locator follows') {
    const file = path.join(tempDir(), 'a.ts');
    writeFileSync(file, 'old');
    const proposal = { summary, files: [{ file, before: 'old', after: 'new' }] };
    return { proposers: [createFixerProposer(async () => proposal, unexpected)] };
  }

  it('BF-5 a failed fix uses no retry and no wait; the agent’s prompt mentions it', async () => {
    const { session: given, agents, clock } = await session(Array(4).fill('boom'), { hooks: fixer() });
    const { attempts, end } = await healAlone(given, cause);
    expect(attempts.map((one) => one.agent)).toEqual(['built-in', 'code-review', 'code-review', null]);
    expect(clock.slept).toEqual([5000, 10_000]);
    expect(end).toEqual({ verdict: 'failed', reason: 'still failing after 3 retries' });
    expect(agents).toHaveLength(2);
    expect(attempts[0]).toMatchObject({ claim: { summary: 'the locator follows' } });
  });

  it('BF-1 skips classes that are left to people, and fixes that it tried in an earlier run', async () => {
    const routes = { ...someSettings().routes, 'ui-error': [] };
    const unrouted = await session([], { hooks: fixer(), settings: someSettings({ routes }) });
    expect((await healAlone(unrouted.session, cause)).attempts).toEqual([]);
    const tried = [
      anAttempt({
        runner: 'built-in',
        agent: 'built-in',
        claim: { status: 'fixed', summary: 'the locator follows' },
      }),
    ];
    const known = { ...(await noStore.recordFailure('', '')), failedAttempts: tried };
    const again = await session([null], {
      hooks: fixer(),
      store: { ...noStore, recordFailure: async () => known },
    });
    expect((await healAlone(again.session, cause)).attempts.map((one) => one.agent)).toEqual(['code-review']);
  });

  it('BF-1 fails if it cannot fix a failure and there is no agent program, and says so', async () => {
    const settings = someSettings();
    const agents = Object.fromEntries(
      Object.entries(settings.agents).map(([name, agent]) => [name, { ...agent, runner: 'built-in' }]),
    );
    const { session: given } = await session([], {
      hooks: { proposers: [createFixerProposer(async () => null, unexpected)] },
      settings: { ...settings, agents },
    });
    const { end, attempts } = await healAlone(given, cause);
    expect({ verdict: end.verdict, attempts }).toEqual({ verdict: 'failed', attempts: [] });
    expect(end.reason).toContain('no agent program is set up');
  });
});

describe('restart agent', () => {
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
    const starts: RestartOptions[] = [];
    const controller = new AbortController();
    const { settings = someSettings() } = over;
    const { session, clock, events } = await healingSession([], { settings, signal: controller.signal });
    const { spending } = session;
    spending.countAgentStart(cause);
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
    it('AG-7 restarts after a wait with backoff and jitter, adding up its usage', async () => {
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
      ['no less than the backoff', 1000, [3750]],
    ])('AG-7 waits as long as the provider asks: %s', async (_, waitMs, slept) => {
      const { run, clock, events } = await runThrough([{ ...overloaded, waitMs }, completed]);
      expect(run.end).toEqual(completed);
      expect(clock.slept).toEqual(slept);
      expect(events).toMatchObject([{ type: 'agent.retrying', delayMs: slept[0] }]);
    });

    it('AG-7 leaves a requested wait of more than five minutes to a person, with the time', async () => {
      const { run, starts, clock } = await runThrough([{ ...overloaded, waitMs: 300_001 }]);
      expect(starts).toHaveLength(1);
      expect(clock.slept).toEqual([]);
      expect(run.end).toMatchObject({
        remedy: expect.stringMatching(/\d\d:\d\d.*self-heal run/) as string,
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
  });
});

const before = Buffer.from([0x61, 0xe4, 0x0a]).toString('utf8');

/** Applies a proposal of the fixer that replaces the text of a file. */
async function proposed(root: string, file: string, from = before) {
  const { session } = await healingSession([]);
  const workspace = {
    ...session.workspace,
    root,
    ready: () => Promise.reject(new Error('no copy is needed')),
  };
  const proposal = wrapProposal({
    summary: 'x',
    files: [{ file, before: from, after: from.replace('a', 'b') }],
  });
  const start = { n: 1, agent: 'built-in', runner: null };
  const trial = await startTrial(session, aCause(), start);
  await applyProposal({ ...session, workspace }, trial, { proposal, causeId: 'c1' });
  return trial;
}

it.each([
  ['that is not UTF-8', Buffer.from([0x61, 0xe4, 0x0a])],
  ['that changed meanwhile', Buffer.from('other\n')],
])('BF-5 leaves a file %s as it is, and says so', async (_, bytes) => {
  const root = tempDir();
  const file = path.join(root, 'a.ts');
  writeFileSync(file, bytes);
  const { record: made, work, because } = await proposed(root, file);
  expect(work).toBeNull();
  expect(because).toContain(file);
  expect(made.files).toEqual([]);
  expect(readFileSync(file)).toEqual(bytes);
});

it('BF-5 applies a fix without a copy of the project, keeps modes, and follows links inside the project', async () => {
  const root = tempDir();
  mkdirSync(path.join(root, 'real'));
  writeFileSync(path.join(root, 'real', 'a.ts'), 'a\n', { mode: 0o755 });
  symlinkSync('real', path.join(root, 'linked'));
  const { record: made, work } = await proposed(root, path.join(root, 'linked', 'a.ts'), 'a\n');
  const file = { kind: 'file', mode: 0o755 };
  expect(work?.change?.edits).toMatchObject([{ path: 'real/a.ts', before: file, after: file }]);
  expect(made).toMatchObject({ exit: 'completed', agent: 'built-in', files: [{ path: 'real/a.ts' }] });
  expect(readFileSync(path.join(root, 'real', 'a.ts'), 'utf8')).toBe('a\n');
});

it('SC-4 HN-3 the guard judges a patch from another machine under any agent’s name', async () => {
  const file = 'self-heal-elsewhere/a.ts';
  const patch = `diff --git a/${file} b/${file}\nnew file mode 100644\nindex ${'0'.repeat(40)}..${'1'.repeat(40)}\n--- /dev/null\n+++ b/${file}\n@@ -0,0 +1,1 @@\n+x\n`;
  const fix = readFix(Buffer.from(patch));
  if (!fix.ok) throw new Error(fix.error);
  const asked: unknown[] = [];
  const patches = [{ agent: 'built-in', runId: 'r', tests: new Set(['t1']), fix: fix.value }];
  const { session: given } = await session(Array(4).fill('boom'), {
    hooks: { proposers: [proposePatches(patches)], noAgents: 'no patch from another machine fixes it' },
    guard: async ({ changes }) => {
      asked.push(...changes);
      return { ...noFindings, violations: [createViolation('app-detects-tests', { file, detail: 'x' })] };
    },
  });
  const diagnosis = aDiagnosis({ category: 'build-error' });
  const { attempts } = await healAlone(given, aCause({ lead: { ...failing('t1', 'boom'), diagnosis } }));
  expect(asked).toEqual([{ path: file, kind: 'file' }]);
  expect(attempts[0]).toMatchObject({ agent: 'built-in', proposedBy: 'patch', end: { kind: 'rejected' } });
});

it('BF-5 leaves a file outside the project as it is', async () => {
  const outside = path.join(tempDir(), 'a.ts');
  writeFileSync(outside, 'a\n');
  expect((await proposed(tempDir(), outside, 'a\n')).work).toBeNull();
});

it.each([
  ["-  await expect(page).toHaveTitle('Old');\n+  await expect(page).toHaveTitle('New');", true],
  ["+  await page.route('**/api', (route) => route.fulfill());", false],
  ['-  await expect(buy).toBeVisible();\n+  await expect(buy.first()).toBeVisible();', false],
  ['-  await expect(buy).toBeVisible();', true],
  [
    "--- a/expect.spec.ts\n+++ b/expect.spec.ts\n-  await signIn('admin');\n+  await signIn('account');",
    false,
  ],
])('BL-6 only a patch that changes a test’s expectation asks about new behavior: %j', (patch, expected) => {
  expect(changesExpectation(patch)).toBe(expected);
});

it.each([
  ["-  await expect(page).toHaveTitle('Old');\n+  await expect(page).toHaveTitle('New');", true],
  ['-  await expect(buy).toBeVisible();\n+  await expect(buy.first()).toBeVisible();', false],
  ["-  await expect(list).toContainText('high');", false],
])('BL-6 only an expectation that a patch adds has to be red with the old app: %j', (patch, expected) => {
  expect(addsExpectation(patch)).toBe(expected);
});

it('SC-3 HN-9 an agent whose task cannot be written no longer counts as working', async () => {
  const { session: given } = await session([]);
  const full = { ...given.folder, makeAttemptPath: () => Promise.reject(new Error('the disk is full')) };
  const request = { cause, agent: 'debugger', n: 1, previous: [] };
  const slot = { copy: 0, signal: given.signal };
  await expect(setUpAgent({ ...given, folder: full }, request, slot)).rejects.toThrow('the disk is full');
  expect(given.spending.mayStartAgent({ costUsd: 0 })).toBe(true);
});
