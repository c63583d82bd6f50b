import { once } from 'node:events';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { AgentRun } from '../../../src/model/attempt.js';
import type { AgentTask, RunAgent } from '../../../src/agents/runner.js';
import { noStore } from '../../../src/store/warning-store.js';
import { createSpending } from '../../../src/run/spending.js';
import { aBlame, aBlamedHunk, anError, failing } from '../../rig/builders.js';
import { Rounds, CauseSearch } from '../../../src/clients/blame/search.js';
import type { ChangeHistory } from '../../../src/clients/blame/history.js';
import type { Session } from '../../../src/heal/session.js';
import type { Candidate } from '../../../src/workspace/candidates.js';
import { completedRun } from '../../rig/healing-session.js';
import { groupIntoCauses } from '../../../src/diagnose/group.js';
import { healGivenCauses } from '../../../src/heal/heal-rounds.js';
import { createProgress } from '../../../src/heal/progress.js';
import type { SuiteRun } from '../../../src/playwright/suite-run.js';
import { type TestSimulation, simulatedRun, wholeProof } from '../../rig/simulated-run.js';
import { virtualClock } from '../../rig/virtual-clock.js';

/** A promise and the function that resolves it. */
function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

function settingsFor(parallel: number, limits: Partial<typeof wholeProof.limits> = {}) {
  return { ...wholeProof, limits: { ...wholeProof.limits, parallel, ...limits } };
}

/** Agents under remote control: a test sees which have started, and ends each of them. */
function remoteAgents(count: number) {
  const ends = Array.from({ length: count }, () => deferred<AgentRun>());
  const allStarted = deferred<void>();
  const started: string[] = [];
  let most = 0;
  let atWork = 0;
  const runAgent: RunAgent = async ({ prompt, signal, onStart }) => {
    const test = /^Test:.*\b(t\d)\b/m.exec(prompt)?.[1] ?? '';
    onStart(1);
    started.push(test);
    most = Math.max(most, (atWork += 1));
    if (started.length === count) allStarted.resolve();
    const aborted = new Promise<AgentRun>((resolve) => {
      const end = () => resolve({ ...completedRun, end: { kind: 'aborted' } });
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
    });
    const run = await Promise.race([ends[Number(test.slice(1)) - 1]?.promise ?? completedRun, aborted]);
    atWork -= 1;
    return run;
  };
  const end = (n: number, run: AgentRun = completedRun) => ends[n - 1]?.resolve(run);
  return { runAgent, started, allStarted: allStarted.promise, end, most: () => most };
}

/** Each test has its own fault, which the fix with its number heals. */
const ownFault: TestSimulation = (test, { fixes }) => (fixes.has(test.slice(1)) ? null : `fault of ${test}`);

const tests = ['t1', 't2', 't3', 't4'];

it('SC-3 agents of several causes work at the same time, but no more than limits.parallel', async () => {
  const agents = remoteAgents(3);
  const running = simulatedRun(tests, ownFault, { settings: settingsFor(3), runAgent: agents.runAgent });
  await agents.allStarted;
  expect(agents.started.toSorted()).toEqual(['t1', 't2', 't3']);
  for (const n of [1, 2, 3, 4]) agents.end(n);
  const { verdicts, runs, events } = await running;
  expect(Object.values(verdicts)).toEqual(['healed', 'healed', 'healed', 'healed']);
  expect(agents.most()).toBe(3);
  // As many Playwright runs as one agent after another needs: causes + 6 (HN-5).
  expect(runs).toHaveLength(10);
  const kinds = events.map(({ type }) => type).filter((type) => type.startsWith('agent.'));
  expect(kinds.indexOf('agent.ended')).toBe(3);
});

it('SC-3 tests the fix of the first agent to finish; the report keeps the order of the causes', async () => {
  const agents = remoteAgents(2);
  const shows: TestSimulation = (test, at) => {
    // The first agent goes on until the second one's fix is tested.
    if (at.purpose === 'retest') agents.end(1);
    return ownFault(test, at);
  };
  const running = simulatedRun(['t1', 't2'], shows, { settings: settingsFor(2), runAgent: agents.runAgent });
  await agents.allStarted;
  agents.end(2);
  const { runs, causes } = await running;
  expect(runs.slice(2, 4)).toEqual(['retest t2 t1', 'retest t1']);
  expect(causes).toEqual(['c1 healed', 'c2 healed']);
});

/** The first fix heals all tests. */
const sharedFault: TestSimulation = (test, { fixes }) => (fixes.has('1') ? null : `fault of ${test}`);

const nine = Array.from({ length: 9 }, (_, at) => `t${at + 1}`);

it('SC-3 HN-5 tries all ready fixes in one run, and separates them in a few more', async () => {
  const agents = remoteAgents(9);
  const running = simulatedRun(nine, ownFault, { settings: settingsFor(9), runAgent: agents.runAgent });
  await agents.allStarted;
  for (const n of [9, 8, 7, 6, 5, 4, 3, 2, 1]) agents.end(n);
  const { verdicts, runs } = await running;
  expect(new Set(Object.values(verdicts))).toEqual(new Set(['healed']));
  const reruns = runs.filter((run) => run.startsWith('retest')).map((run) => run.split(' ').slice(1));
  expect(reruns.length).toBeLessThanOrEqual(2);
  // Beside the six that all causes share, they grow with the logarithm of the causes.
  expect(runs.length).toBeLessThanOrEqual(6 + 2 + 4);
});

it('SC-3 HN-5 reverts a needless fix that was tried together with the needed one', async () => {
  const agents = remoteAgents(3);
  // The first agent's fix heals all; whatever the others made is ready at the same time.
  const running = simulatedRun(['t1', 't2', 't3'], sharedFault, {
    settings: settingsFor(3),
    runAgent: agents.runAgent,
  });
  await agents.allStarted;
  for (const n of [3, 2, 1]) agents.end(n);
  const { fixes, causes, verdicts } = await running;
  expect([...fixes]).toEqual(['1']);
  expect(causes).toEqual(['c1 healed', 'c2 healed', 'c3 healed']);
  expect(new Set(Object.values(verdicts))).toEqual(new Set(['healed']));
});

it('SC-3 HN-5 keeps a fix that was tried with others and has a lasting effect in the project', async () => {
  const agents = remoteAgents(3);
  let isMigrated = false;
  const shows: TestSimulation = (test, at) => {
    isMigrated ||= at.fixes.has('3');
    return test === 't3' && isMigrated ? null : ownFault(test, at);
  };
  const running = simulatedRun(['t1', 't2', 't3'], shows, {
    settings: settingsFor(3),
    runAgent: agents.runAgent,
    leftovers: ['dev.db'],
    needsCleanCopy: ownFault,
  });
  await agents.allStarted;
  for (const n of [3, 2, 1]) agents.end(n);
  const { fixes, verdicts } = await running;
  expect([...fixes].toSorted()).toEqual(['1', '2', '3']);
  expect(new Set(Object.values(verdicts))).toEqual(new Set(['healed']));
});

it('SC-3 HN-5 tries a fix alone if it does not hold together with others', async () => {
  const agents = remoteAgents(3);
  // With the second fix, the first does not hold.
  const shows: TestSimulation = (test, at) =>
    test === 't1' && at.fixes.has('2') ? 'fault of t1' : ownFault(test, at);
  const running = simulatedRun(['t1', 't2', 't3'], shows, {
    settings: settingsFor(3),
    runAgent: agents.runAgent,
  });
  await agents.allStarted;
  for (const n of [1, 2, 3]) agents.end(n);
  const { verdicts, fixes } = await running;
  expect(verdicts).toMatchObject({ t2: 'healed', t3: 'healed' });
  expect([...fixes]).not.toContain('1');
});

it('SC-3 makes no copy for an agent while the project contains an unjudged patch', async () => {
  let isTesting = false;
  const testOf = new Map<string, string>();
  const { verdicts } = await simulatedRun(tests, fixedByOwn(testOf), {
    settings: settingsFor(2),
    needsCopies: true,
    suite: {
      prepare: async () => {
        isTesting = true;
        await new Promise((resolve) => void setImmediate(resolve));
        isTesting = false;
        return null;
      },
    },
    runAgent: async (task) => {
      expect(isTesting).toBe(false);
      task.onStart(1);
      testOf.set(...fixIn(task));
      return completedRun;
    },
  });
  expect(Object.values(verdicts)).toEqual(['healed', 'healed', 'healed', 'healed']);
});

it('SC-3 HL-6 ends the agent of a test that turns green with the fix for another cause, and says so', async () => {
  const agents = remoteAgents(2);
  const running = simulatedRun(['t1', 't2'], sharedFault, {
    settings: settingsFor(2),
    runAgent: agents.runAgent,
  });
  await agents.allStarted;
  agents.end(1);
  const { causes, verdicts, report, fixes } = await running;
  expect(report.totals.agentRuns).toBe(2);
  expect(causes).toEqual(['c1 healed', 'c2 healed']);
  expect(verdicts).toEqual({ t1: 'healed', t2: 'healed' });
  expect([...fixes]).toEqual(['1']);
  expect(report.causes[1]?.attempts).toMatchObject([
    { exit: 'aborted', end: { kind: 'interrupted', because: 'its test is green with the fix for c1' } },
  ]);
});

it('SC-3 HL-6 with one agent, the next cause waits until a run shows whether this fix heals it, too', async () => {
  const agents = remoteAgents(1);
  const running = simulatedRun(['t1', 't2', 't3'], sharedFault, {
    settings: settingsFor(1),
    runAgent: agents.runAgent,
  });
  await agents.allStarted;
  // The other causes are in line meanwhile.
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
  agents.end(1);
  const { report, causes } = await running;
  expect(causes).toEqual(['c1 healed', 'c2 healed', 'c3 healed']);
  expect(report.totals.agentRuns).toBe(1);
});

it('SC-3 HL-6 with one agent, independent causes cost no runs but those that judge their fixes', async () => {
  const testOf = new Map<string, string>();
  const { report, runs } = await simulatedRun(tests, fixedByOwn(testOf), {
    settings: settingsFor(1),
    runAgent: async (task) => {
      task.onStart(1);
      testOf.set(...fixIn(task));
      await new Promise((resolve) => void setImmediate(resolve));
      return completedRun;
    },
  });
  expect(report.totals.agentRuns).toBe(4);
  expect(runs.filter((run) => run.startsWith('retest'))).toEqual([
    'retest t1 t2',
    'retest t2 t3',
    'retest t3 t4',
    'retest t4',
  ]);
});

it.each([
  ['the same blamed lines', 12, ['t1', 't3']],
  ['different blamed lines', 40, ['t1', 't2', 't3']],
])(
  'SC-3 HL-6 for causes with %s (line 12 and line %d), starts the agents of %j at the same time',
  async (_, line, atOnce) => {
    const agents = remoteAgents(atOnce.length);
    const shows: TestSimulation = (test, { fixes }) =>
      (test === 't3' ? ['2', '3'] : ['1']).some((fix) => fixes.has(fix)) ? null : `fault of ${test}`;
    const lines = [12, line, 80];
    const running = simulatedRun(['t1', 't2', 't3'], shows, {
      settings: settingsFor(3),
      runAgent: agents.runAgent,
      blame: async (causes) => ({
        haveDifferentCauses: (id, otherId) => {
          const [own, other] = [id, otherId].map((of) => lines[causes.findIndex((cause) => cause.id === of)]);
          return own !== other;
        },
        next: async () => false,
        needsRun: () => false,
        findBlame: async (id) =>
          aBlame({ hunks: [aBlamedHunk({ line: lines[causes.findIndex((one) => one.id === id)] ?? 0 })] }),
      }),
    });
    await agents.allStarted;
    expect(agents.started.toSorted()).toEqual(atOnce);
    for (const n of [1, 2, 3]) agents.end(n);
    const { verdicts } = await running;
    expect(Object.values(verdicts)).toEqual(['healed', 'healed', 'healed']);
    expect(new Set(agents.started)).toEqual(new Set(atOnce));
  },
);

it('SC-3 HN-7 an internal error in one cause stops the others at once, without a verdict on them', async () => {
  const agents = remoteAgents(2);
  const ended: string[] = [];
  const runs: string[] = [];
  const shows: TestSimulation = (test, at) => {
    runs.push(`${at.purpose} ${test}`);
    return ownFault(test, at);
  };
  const running = simulatedRun(['t1', 't2'], shows, {
    settings: settingsFor(2),
    runAgent: async (task) => {
      const run = await agents.runAgent(task);
      if (run.end.kind === 'completed') throw new Error('the disk is full');
      return run;
    },
    store: {
      ...noStore,
      recordHealByOtherFix: async ({ signature }) => void ended.push(signature),
      finishAttempt: async (_, { end }) => void ended.push(end.kind),
    },
  });
  await agents.allStarted;
  agents.end(1);
  await expect(running).rejects.toThrow('the disk is full');
  expect(runs).toEqual(['first t1', 'first t2', 'confirm t1', 'confirm t2']);
  expect(ended).toEqual(['interrupted']);
});

it('SC-3 HN-9 starts no agent beyond limits.agentRuns, even if several are requested at the same time', async () => {
  const agents = remoteAgents(2);
  const running = simulatedRun(tests, ownFault, {
    settings: settingsFor(4, { agentRuns: 2 }),
    runAgent: agents.runAgent,
  });
  await agents.allStarted;
  agents.end(1);
  agents.end(2);
  const { causes, ends } = await running;
  expect(agents.started).toHaveLength(2);
  expect(causes).toEqual(['c1 healed', 'c2 healed', 'c3 failed', 'c4 failed']);
  const over = ends.filter(({ overBudget }) => overBudget);
  expect(over.map(({ causeId }) => causeId).toSorted()).toEqual(['c3', 'c4']);
});

it('SC-3 ME-2 starts no further agent for a cause in progress once healing is paused', async () => {
  const agents = remoteAgents(2);
  const running = simulatedRun(['t1', 't2'], (test) => `fault of ${test}`, {
    settings: settingsFor(2, { escalations: 1 }),
    runAgent: agents.runAgent,
  });
  await agents.allStarted;
  agents.end(1, { ...completedRun, claim: { status: 'needs-person', summary: 'which price?' } });
  agents.end(2);
  const { record, ends } = await running;
  expect(agents.started).toHaveLength(2);
  expect(record.paused).toBe(true);
  expect(ends.map(({ verdict }) => verdict)).toEqual(['escalated', 'interrupted']);
});

it('SC-3 HN-9 counts a running agent at the highest cost so far until its own is known', async () => {
  const spending = createSpending(0);
  const cause = groupIntoCauses([failing('t1', 'fault')]).at(0)!;
  const [first, second] = [spending.countAgentStart(cause), spending.countAgentStart(cause)];
  expect(spending.mayStartAgent({ costUsd: 1 })).toBe(true);
  const ended = spending.waitForNextEnd();
  first.addCost(0.5);
  first[Symbol.dispose]();
  await ended;
  expect(spending.mayStartAgent({ costUsd: 1 })).toBe(false);
  expect(spending.mayStartAgent({ costUsd: 1.1 })).toBe(true);
  second.addCost(0.1);
  second[Symbol.dispose]();
  expect(spending.mayStartAgent({ costUsd: 1 })).toBe(true);
  expect(spending.getTotals().costUsd).toBe(0.6);
});

async function aborted(signal?: AbortSignal): Promise<void> {
  if (signal && !signal.aborted) await once(signal, 'abort');
}

/** Each test is healed by the fix of the agent that was asked about it, in whatever order agents work. */
function fixedByOwn(testOf: ReadonlyMap<string, string>): TestSimulation {
  return (test, { fixes }) =>
    [...fixes].some((id) => testOf.get(id) === test) ? null : `fault${test} is back`;
}

/** Returns the name of the fix that an agent makes, and the test that it was asked about. */
function fixIn({ prompt, logFile }: Pick<AgentTask, 'prompt' | 'logFile'>): [id: string, test: string] {
  return [path.basename(logFile, '.log'), /^Test:.*\b(t\d+)\b/m.exec(prompt)?.[1] ?? ''];
}

/** A search whose runs are counted, in which each failure names the hunk that broke its test, and its fix takes that back. */
function namedSearches(blameRuns: string[]): NonNullable<Session['blame']> {
  return async (causes) => {
    const candidates = causes.map(({ lead }, n): Candidate => {
      const [{ message } = anError('')] = lead.evidence.errors;
      const exact = { file: `src/${n}.ts`, old: [`${message}\n`], now: ['x\n'], oldStart: 1, newStart: 1 };
      const hunk = { ...exact, whole: false };
      return {
        hunk,
        file: { path: hunk.file, before: '', after: '', hunks: [hunk] },
        step: 0,
        inTests: false,
      };
    });
    const history: ChangeHistory = {
      base: { commit: 'c0ffee', from: 'merge-base' },
      candidates,
      commits: [],
      isComplete: true,
    };
    const searches = causes.map(
      ({ id, lead }) => new CauseSearch(id, lead, { history, readOlderHistory: async () => null }),
    );
    for (const search of searches) await search.advance();
    const rounds = new Rounds(searches);
    const searchFor = (id: string) => searches.find(({ causeId }) => causeId === id);
    return {
      next: async (isWanted = () => true) => {
        const round = rounds.next(searches.filter(({ causeId }) => isWanted(causeId)));
        if (!round) return false;
        blameRuns.push([...round.reverted].map(({ hunk }) => hunk.file).join(' '));
        for (const search of round.searches) {
          const own = candidates[searches.indexOf(search)];
          await search.recordRun(round.reverted, own && round.reverted.has(own) ? 'green' : 'red');
        }
        return true;
      },
      needsRun: (id) => searchFor(id)?.nextHunks !== null,
      findBlame: async (id) => {
        const culprits = searchFor(id)?.culprits;
        return culprits
          ? aBlame({
              isMinimal: culprits.isMinimal,
              hunks: culprits.set.map(({ hunk }) => aBlamedHunk(hunk)),
            })
          : null;
      },
      haveDifferentCauses: (id, otherId) => {
        const [search, other] = [searchFor(id), searchFor(otherId)];
        return search !== undefined && other !== undefined && search.hasDifferentCauseFrom(other);
      },
    };
  };
}

it.each([
  [1, 9],
  [4, 11],
  [10, 12],
])(
  'HN-5 BL-2 heals %d causes whose first fixes hold in %d runs, including those for blame',
  async (count, most) => {
    const names = Array.from({ length: count }, (_, at) => `t${at + 1}`);
    const blameRuns: string[] = [];
    const testOf = new Map<string, string>();
    const allEnded = deferred<void>();
    const { verdicts, runs } = await simulatedRun(names, fixedByOwn(testOf), {
      settings: settingsFor(count),
      blame: namedSearches(blameRuns),
      // No agent works for as long as a run takes.
      clock: { ...virtualClock(), sleep: (_, signal) => aborted(signal) },
      // The other agents end while the first fix is tried.
      suite: {
        prepare: async () => {
          if (testOf.size > 0) await allEnded.promise;
          return null;
        },
      },
      runAgent: async (task) => {
        task.onStart(1);
        testOf.set(...fixIn(task));
        if (testOf.size === count) allEnded.resolve();
        return completedRun;
      },
    });
    expect(new Set(Object.values(verdicts))).toEqual(new Set(['healed']));
    expect([...blameRuns, ...runs].length, `${blameRuns.length} for blame: ${runs.join(', ')}`).toBe(most);
  },
);

/** Heals the causes of what the first run found, as `flaky` does with its own. */
const theseAlone = async (session: Session, first: SuiteRun) => {
  const causes = groupIntoCauses(await session.diagnostics.diagnose(first)).map((cause, at) => ({
    ...cause,
    id: `c${at + 1}`,
  }));
  return { suiteRed: false, ...(await healGivenCauses(createProgress(session, first), causes, first)) };
};

it('FL-4 continues with a cause whose fix the proof refutes', async () => {
  // The first fix is green once only.
  let greens = 0;
  const shows: TestSimulation = (_, { fixes }) =>
    fixes.has('2') || (fixes.has('1') && (greens += 1) === 1) ? null : 'boom';
  const { causes, ends } = await simulatedRun(['t1'], shows, { settings: wholeProof, command: theseAlone });
  expect(causes).toEqual(['c1 healed']);
  expect(ends).toMatchObject([{ verdict: 'healed', attempts: 2 }]);
});

it('FL-4 ME-2 pauses if too many flakes wait for people', async () => {
  const settings = settingsFor(1, { escalations: 1 });
  const diagnosis = { retry: 'never_retry' } as const;
  const run = await simulatedRun(['t1'], () => 'boom', { settings, diagnosis, command: theseAlone });
  expect(run.record.paused).toBe(true);
});
