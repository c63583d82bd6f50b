import { describe, expect, it, vi } from 'vitest';
import { chooseTestsToRunWithoutFix, chooseNeighbors, groupAlike } from '../../../src/heal/alike.js';
import { type AgentRun, type Opinion, isKept } from '../../../src/model/attempt.js';
import type { DiagnosedFailure } from '../../../src/model/cause.js';
import { formatTitles } from '../../../src/model/failure.js';
import { decideOutcome } from '../../../src/model/verdict.js';
import { noFindings } from '../../../src/guard/findings.js';
import type { Guard } from '../../../src/guard/run-guard.js';
import type { ProposedFix } from '../../../src/heal/hooks.js';
import { ok } from '../../../src/result.js';
import { readFailureRecords } from '../../../src/run/failure-record.js';
import { endCause, createProgress, announceCause } from '../../../src/heal/progress.js';
import { proveFixes } from '../../../src/heal/prove.js';
import { healRun } from '../../../src/heal/heal-rounds.js';
import { Observations } from '../../../src/heal/observations.js';
import type { Session } from '../../../src/heal/session.js';
import { announceTests } from '../../../src/heal/announce-tests.js';
import { createReport, listReportTests } from '../../../src/run/report.js';
import { noStore } from '../../../src/store/warning-store.js';
import type { ContentStore } from '../../../src/workspace/change.js';
import {
  aBlame,
  aCause,
  aDiagnosed,
  aDiagnosis,
  aResult,
  aSuiteRun,
  aTest,
  aTestFailure,
  anAttempt,
  anEnd,
  anError,
  anEscalation,
  anEvidence,
  failing,
  someSettings,
} from '../../rig/builders.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { programs } from '../../rig/programs.js';
import { tempDir } from '../../rig/temp-dir.js';
import { completedRun, healingSession } from '../../rig/healing-session.js';
import {
  type RunMoment,
  NOT_RUN,
  type TestSimulation,
  simulatedRun,
  wholeProof,
} from '../../rig/simulated-run.js';

/** What each test shows in a run; `but` replaces what one of them shows, where the function has an answer. */
const but =
  (base: TestSimulation, id: string, other: (at: RunMoment) => string | null | undefined): TestSimulation =>
  (test, at) => {
    const shown = test === id ? other(at) : undefined;
    return shown === undefined ? base(test, at) : shown;
  };
/** Test `tN` needs change `N`. */
const own: TestSimulation = (id, { fixes }) => (fixes.has(id.slice(1)) ? null : `error of ${id}`);
/** All tests fail the same way, and this change heals them. */
const shared: TestSimulation = (_, { fixes }) => (fixes.has('1') ? null : 'shared');
const sharedApart: TestSimulation = (id, { fixes }) => (fixes.has('1') ? null : `error of ${id}`);
/** The first fix only changes the error; the second one heals it if it may. */
const chain =
  (heals: boolean): TestSimulation =>
  (_, { fixes }) =>
    fixes.has('1') ? (heals && fixes.has('2') ? null : 'another') : 'boom';
const chained = chain(true);
/** A guard that rejects the first two changes. */
const rejectsTwo = (): { guard: Guard } => {
  let shown = 0;
  const violation = { rule: 'r', file: 'a.spec.ts', line: 1, before: 'x', after: null, says: 'x' };
  return { guard: async () => ({ ...noFindings, violations: (shown += 1) <= 2 ? [violation] : [] }) };
};
const unusable = { kind: 'unusable', reason: 'Not logged in', remedy: 'Log in.' } as const;
const onceUsable = () => {
  let runs = 0;
  return { runAgent: async () => ((runs += 1) > 1 ? { ...completedRun, end: unusable } : completedRun) };
};
const limitedTo = (agentRuns: number) => ({
  settings: { ...wholeProof, limits: { ...wholeProof.limits, agentRuns } },
});
const noRegression = { settings: someSettings({ verify: { ...wholeProof.verify, regression: 'none' } }) };
const clean = {
  settings: someSettings({ verify: { ...wholeProof.verify, level: 'clean' } }),
};
/** Once a fix has been there, what it made keeps its test green. */
const outliving: TestSimulation = (id, at) => (at.run > 4 ? null : own(id, at));
const lost = 'the account cannot be deleted';
const tests = (count: number) => Array.from({ length: count }, (_, index) => `t${index + 1}`);

type Over = Parameters<typeof simulatedRun>[2];
type Scenario = [what: string, count: number, shows: TestSimulation, left: string, over?: Over];

// What is left: the verdicts of the tests, those of the causes, and the changes in the project.
it.each<Scenario>([
  ['each first fix holds', 2, own, 'healed healed | c1 healed, c2 healed | 1,2'],
  [
    'a fix does not hold in the proof, and the next one does',
    2,
    but(own, 't1', ({ fixes, run }) =>
      fixes.has('3') ? null : fixes.has('1') && run > 4 ? 'error of t1' : undefined,
    ),
    'healed healed | c1 healed, c2 healed | 2,3',
  ],
  [
    'a test has been green since an agent worked on it, with its patch and without',
    2,
    but(own, 't1', ({ run }) => (run > 2 ? null : undefined)),
    'escalated healed | c1 escalated, c2 healed | 2',
  ],
  [
    'the effect of a fix outlives its revert, and a clean copy shows that the fix is needed',
    2,
    outliving,
    'healed healed | c1 healed, c2 healed | 1,2',
    { leftovers: ['dev.db'], needsCleanCopy: own },
  ],
  [
    'a test is green without its fix in a clean copy, too',
    2,
    but(own, 't1', ({ run }) => (run > 2 ? null : undefined)),
    'escalated healed | c1 escalated, c2 healed | 2',
    { leftovers: ['server.log'], needsCleanCopy: but(own, 't1', () => null) },
  ],
  [
    'a test is red and green in the state without its fix, in which a database has changed',
    2,
    but(own, 't1', ({ fixes, run }) => (fixes.has('1') || (run > 6 && run % 2 === 1) ? null : undefined)),
    'flaky healed | c1 flaky, c2 healed | 2',
    { leftovers: ['dev.db'], needsCleanCopy: own },
  ],
  [
    'a test is green without its fix only until its server notices',
    2,
    but(own, 't1', ({ run }) => (run === 7 ? null : undefined)),
    'healed healed | c1 healed, c2 healed | 1,2',
    { leftovers: ['dev.db'] },
  ],
  [
    'the effect of a fix outlives its revert, and no clean copy can run',
    2,
    outliving,
    'green-once green-once | c1 green-once, c2 green-once | 1,2',
    { leftovers: ['dev.db'] },
  ],
  [
    'the effect of one fix outlives its revert, and a clean copy is red with it, too',
    2,
    but(own, 't1', ({ run }) => (run > 5 ? null : undefined)),
    'green-once healed | c1 green-once, c2 healed | 1,2',
    { leftovers: ['dev.db'], needsCleanCopy: but(own, 't1', () => 'no such table') },
  ],
  [
    'all proofs are made in a clean copy, and one test does not run there without its fix',
    2,
    own,
    'green-once healed | c1 green-once, c2 healed | 1,2',
    { ...clean, needsCleanCopy: but(own, 't1', ({ fixes }) => (fixes.has('1') ? null : NOT_RUN)) },
  ],
  [
    'all proofs are made in a clean copy, and one test is green there without its fix',
    2,
    own,
    'flaky healed | c1 flaky, c2 healed | 2',
    { ...clean, needsCleanCopy: but(own, 't1', () => null) },
  ],
  [
    'a test does not run without its fix',
    1,
    (_, { fixes, run }) => (fixes.has('1') ? null : run > 3 ? NOT_RUN : 'boom'),
    'green-once | c1 green-once | 1',
  ],
  [
    'a test does not run without the fix of another',
    2,
    but(own, 't2', ({ fixes, run }) => (run > 4 && !fixes.has('1') ? NOT_RUN : undefined)),
    'healed healed | c1 healed, c2 healed | 1,2',
  ],
  [
    'a later fix breaks an earlier one',
    2,
    but(own, 't1', ({ fixes }) => (fixes.has('2') ? 'broken' : undefined)),
    'healed failed | c1 healed, c2 failed | 1',
  ],
  [
    'one fix is built on another',
    3,
    own,
    'healed healed healed | c1 healed, c2 healed, c3 healed | 1,2,3',
    { builtOn: { 2: '1' } },
  ],
  ['one fix heals two causes', 2, sharedApart, 'healed healed | c1 healed, c2 healed | 1'],
  [
    'a test that the fix for another cause made green is red in the proof',
    2,
    but(sharedApart, 't2', ({ run }) => (run > 4 ? 'error of t2' : undefined)),
    'healed failed | c1 healed, c2 superseded, c3 failed | 1',
  ],
  [
    'a later fix heals the test of a cause that was given up',
    2,
    (id, { fixes }) => (fixes.has('3') ? null : `error of ${id}`),
    'healed healed | c1 healed, c2 healed | 3',
    rejectsTwo(),
  ],
  [
    'a fix heals one test and reveals another error in the others',
    2,
    (id, { fixes, run }) =>
      !fixes.has('1')
        ? 'shared'
        : id === 't2'
          ? run === 5
            ? 'shared'
            : null
          : fixes.has('2')
            ? null
            : 'behind',
    'healed healed | c1 superseded, c2 healed | 1,2',
  ],
  [
    'a set-up fails once in the regression run, and another test does not run without it',
    3,
    (id, at) =>
      id === 't1' ? own(id, at) : at.run !== 7 ? null : id === 't2' ? 'the set-up failed' : NOT_RUN,
    'healed flaky passed | c1 healed | 1',
  ],
  [
    'a fix breaks the set-up of another test',
    3,
    (id, at) =>
      id === 't1' ? own(id, at) : !at.fixes.has('1') ? null : id === 't2' ? 'no more set-up' : NOT_RUN,
    'failed passed passed | c1 failed | ',
  ],
  [
    'a test is red twice in the regression run, green without the fix, and green with it, too',
    2,
    (id, at) => (id === 't1' ? own(id, at) : [7, 8].includes(at.run) ? 'a hiccup' : null),
    'healed flaky | c1 healed | 1',
  ],
  [
    'a test is red twice in the regression run, and now and then without the fix',
    2,
    (id, at) =>
      id === 't1' ? own(id, at) : at.run > 6 && (at.fixes.has('1') || at.run === 10) ? 'a hiccup' : null,
    'healed flaky | c1 healed | 1',
  ],
  [
    'a proven heal is red once in the regression run',
    1,
    but(own, 't1', ({ purpose, run }) => (purpose === 'regression' && run === 7 ? 'a hiccup' : undefined)),
    'healed | c1 healed | 1',
  ],
  ['there is no regression run', 1, own, 'healed | c1 healed | 1', noRegression],
  ['it is interrupted', 2, own, 'failed failed | c1 interrupted, c2 interrupted | ', { signalAfter: 6 }],
  [
    'an error needs two fixes',
    2,
    but(own, 't1', ({ fixes }) => (fixes.has('1') ? (fixes.has('3') ? null : 'second') : undefined)),
    'healed healed | c1 superseded, c2 healed, c3 healed | 1,2,3',
  ],
  [
    'two causes show the same error',
    2,
    (id, { fixes }) => (fixes.has(id.slice(1)) ? null : 'shared'),
    'healed healed | c1 healed, c2 healed | 1,2',
  ],
  [
    'an agent changed no file, and its test is green from then on',
    1,
    (_, { run }) => (run < 3 ? 'boom' : null),
    'escalated | c1 escalated | ',
    { idle: ['1'] },
  ],
  [
    'an agent changed no file, and its test is green and red since',
    1,
    (_, { run }) => (run < 3 || run > 3 ? 'boom' : null),
    'flaky | c1 flaky | ',
    { idle: ['1'] },
  ],
  [
    'the second fix heals the error that the first one revealed',
    1,
    chained,
    'healed | c1 superseded, c2 healed | 1,2',
  ],
  [
    'the error that the first fix revealed is not healed',
    1,
    chain(false),
    'failed | c1 superseded, c2 failed | ',
  ],
  ['a limit ends a chain', 1, chained, 'failed | c1 superseded, c2 failed | ', limitedTo(1)],
  [
    'the next agent of a chain cannot work',
    1,
    chained,
    'agent-unusable | c1 superseded, c2 agent-unusable | ',
    onceUsable(),
  ],
  ['a chain is interrupted', 1, chained, 'failed | c1 interrupted, c2 interrupted | ', { signalAfter: 6 }],
  [
    'the last fix of a chain does not hold in the proof',
    2,
    but(own, 't1', ({ fixes, purpose }) =>
      !fixes.has('1') ? 'boom' : fixes.has('3') && purpose === 'retest' ? null : 'another',
    ),
    'failed healed | c1 superseded, c2 healed, c3 failed | 2',
  ],
  [
    'the last fix of a chain breaks another test',
    2,
    but(chained, 't2', ({ fixes }) => (fixes.has('2') ? 'broken' : null)),
    'failed passed | c1 superseded, c2 failed | ',
  ],
  [
    'a fix breaks a test of its file',
    2,
    but(own, 't2', ({ fixes }) => (fixes.has('1') ? 'broken' : null)),
    'failed passed | c1 failed | ',
    { inOneFile: true },
  ],
  [
    'a fix breaks a test of its file, and there is no regression run',
    2,
    but(own, 't2', ({ fixes }) => (fixes.has('1') ? 'broken' : null)),
    'failed passed | c1 failed | ',
    { inOneFile: true, ...noRegression },
  ],
  [
    'the first fix of a chain breaks another test',
    2,
    but(chained, 't2', ({ fixes }) => (fixes.has('1') ? 'broken' : null)),
    'failed passed | c1 failed, c2 failed | ',
  ],
  [
    'only the first fix of a chain is needed after all',
    1,
    (_, { fixes, run }) => (fixes.has('1') ? (run < 5 ? 'another' : null) : 'boom'),
    'healed | c1 superseded, c2 healed | 1',
    { idle: ['2'] },
  ],
  [
    'a test stays red with the fix of its cause',
    3,
    but(shared, 't3', () => 'shared'),
    'healed healed failed | c1 healed, c2 failed | 1',
  ],
  [
    'a test is green with the fix and then red again',
    2,
    but(shared, 't2', ({ run }) => (run === 4 ? 'shared' : undefined)),
    'healed flaky | c1 healed | 1',
  ],
  [
    'a test is also green with the fix reverted',
    2,
    but(shared, 't2', ({ run }) => (run > 2 ? null : undefined)),
    'healed flaky | c1 healed | 1',
  ],
  [
    'the leading test is also green with the fix reverted',
    2,
    but(shared, 't1', ({ run }) => (run > 2 ? null : undefined)),
    'flaky healed | c1 healed | 1',
  ],
  [
    'all tests are green with the fix reverted',
    2,
    (_, { run }) => (run > 2 ? null : 'shared'),
    'escalated escalated | c1 escalated | ',
  ],
  [
    'a test that only joined the cause is red with its fix',
    5,
    but(shared, 't5', () => 'shared'),
    'healed healed healed healed failed | c1 healed, c2 failed | 1',
  ],
  [
    'a failed test is green with a fix that was made after its cause had failed',
    2,
    (test, { fixes, purpose }) =>
      fixes.has('4') || (test === 't1' && fixes.has('1') && !['proof', 'regression'].includes(purpose))
        ? null
        : `fault of ${test}`,
    'healed healed | c1 healed, c2 healed | 4',
  ],
  [
    'the suite does not start in the confirming run',
    1,
    chained,
    'healed | c1 superseded, c2 healed | 1,2',
    { stops: ({ run }) => run === 2 },
  ],
  [
    'the suite no longer starts',
    1,
    chain(false),
    'failed | c1 superseded, c2 failed | ',
    { stops: ({ run }) => run > 5 },
  ],
  [
    'the suite itself fails after its tests',
    2,
    () => null,
    'passed passed | c1 healed | 1',
    { teardown: (ran, { fixes }) => (ran.includes('t2') && !fixes.has('1') ? lost : null) },
  ],
  [
    'a fix makes the suite itself fail',
    2,
    but(own, 't2', () => null),
    'failed passed | c1 failed | ',
    { teardown: (_, { fixes }) => (fixes.has('1') ? lost : null) },
  ],
  [
    'the suite itself fails in the regression run without the fault of a fix',
    1,
    own,
    'healed | c1 healed, c2 healed | 1,2',
    { teardown: (_, { run, fixes }) => (run > 6 && !fixes.has('2') ? 'the disk is nearly full' : null) },
  ],
])(
  'AG-8 HN-1 HN-2 HN-5 HN-6 HN-7 HL-3 HL-6 HL-7 CS-10 the verdicts and fixes if %s',
  async (_, count, shows, left, over) => {
    const run = await simulatedRun(tests(count), shows, over);
    const verdicts = tests(count).map((id) => run.verdicts[id]);
    expect([verdicts.join(' '), run.causes.join(', '), [...run.fixes].join()].join(' | ')).toBe(left);
    // Only what is proven may stay, and is decided.
    expect(run.decided.toSorted()).toEqual([...run.fixes].toSorted());
  },
);

describe('the shared proof', () => {
  it('HN-5 CL-5 asks a person about a fix if no clean copy could run, and names the files', async () => {
    const run = await simulatedRun(tests(1), outliving, { leftovers: ['dev.db'] });
    expect(run.ends).toMatchObject([{ verdict: 'green-once', unproven: true }]);
    expect(run.ends[0]?.reason).toMatch(/dev\.db.*there is none/);
    const result = { ...run.record, causes: run.ends, tests: [], interruptedBy: null } as const;
    expect(decideOutcome({ ...result, failOnHeal: false, failOnFlaky: false }).exitCode).toBe(3);
  });

  it.each([1, 4, 10])(
    'HN-5 heals %i causes whose first fix holds in no more than that many Playwright runs plus 6',
    async (count) => {
      const run = await simulatedRun(tests(count), own);
      expect(run.runs.length).toBeLessThanOrEqual(count + 6);
      expect(new Set(Object.values(run.verdicts))).toEqual(new Set(['healed']));
      expect(run.agents).toHaveLength(count);
      for (const { proof } of run.report.causes)
        expect(proof.join(' ')).toMatch(/^red red (red )*green green green red green$/);
    },
  );

  it('HN-5 runs each step once: first, confirm, a retest per fix, three proof runs, and the regression run', async () => {
    const { runs } = await simulatedRun(tests(2), own);
    expect(runs).toEqual([
      'first t1 t2',
      'confirm t1 t2',
      'retest t1 t2',
      'retest t2',
      'proof t1 t2',
      'proof t1 t2',
      'proof t1 t2',
      'regression t1 t2',
    ]);
  });

  it('HN-5 another cause does not hide that a test needs no fix of its own', async () => {
    // Fix 1 lets t2 get to its own error, which is gone by itself when the fixes are proven.
    const shows: TestSimulation = (id, { fixes, purpose }) => {
      if (!fixes.has('1')) return 'error of t1';
      return id === 't2' && !fixes.has('2') && purpose !== 'proof' ? 'error of t2' : null;
    };
    const run = await simulatedRun(tests(2), shows);
    expect(run.verdicts).toEqual({ t1: 'healed', t2: 'flaky' });
    expect([...run.fixes]).toEqual(['1']);
  });

  it('HN-5 HN-7 HL-6 a test that an earlier fix made green joins the proof of that fix', async () => {
    const run = await simulatedRun(tests(2), sharedApart);
    expect(run.causes).toEqual(['c1 healed', 'c2 healed']);
    expect([...run.fixes]).toEqual(['1']);
    expect(run.report.causes[1]?.attempts.filter(isKept)).toEqual([]);
    expect(run.runs.filter((one) => one.startsWith('proof'))).toEqual([
      'proof t1 t2',
      'proof t1 t2',
      'proof t1 t2',
    ]);
  });

  it('HN-5 an interrupt reverts a kept change together with the unproven fix that it builds on', async () => {
    // Change 2 gets t2 past its first error.
    const shows = but(own, 't2', ({ fixes }) => (fixes.has('2') ? 'another error of t2' : 'error of t2'));
    const { runs } = await simulatedRun(tests(2), shows);
    const signalAfter = runs.findIndex((run) => run.startsWith('proof')) + 1;
    const { report } = await simulatedRun(tests(2), shows, { signalAfter, builtOn: { 2: '1' } });
    const attempts = report.causes.slice(0, 2).flatMap((cause) => cause.attempts);
    expect(attempts.map(({ change }) => change)).toEqual(['1', '2']);
    expect(attempts.filter(isKept)).toEqual([]);
  });
});

const five = tests(5);
const proofsOf = ({ report }: Awaited<ReturnType<typeof simulatedRun>>) =>
  report.causes[0]?.testProofs?.map(({ proof, ended }) => [proof.join(' '), ended]);

it('HL-6 HN-5 proves a fix on every test of its cause in as many Playwright runs as for one', async () => {
  const run = await simulatedRun(five, shared);
  expect(run.report.causes).toHaveLength(1);
  expect(proofsOf(run)).toEqual([
    ...five.slice(0, 3).map(() => ['red red green green green red green', 'proven']),
    ...five.slice(3).map(() => ['red green green green', 'green']),
  ]);
  expect(run.runs.map((one) => one.split(' ').length - 1)).toEqual([5, 3, 3, 5, 5, 3, 5]);
  expect(run.verdicts).toEqual(Object.fromEntries(five.map((id) => [id, 'healed'])));
});

it('HL-6 picks the most diverse tests to run without the fix: other files, already re-run', () => {
  const one = (id: string, file: string, over: Partial<DiagnosedFailure> = {}): DiagnosedFailure => {
    const test = aTest(id, { location: { file, line: 1, column: 1 } });
    return aDiagnosed({ failure: aTestFailure({ test }), ...over });
  };
  const members = [one('a1', 'a'), one('a2', 'a', { like: 1 }), one('a3', 'a'), one('b1', 'b')];
  const [lead = one('', ''), , third, other] = members;
  expect([...chooseTestsToRunWithoutFix(aCause({ lead, members }))]).toEqual([lead, other, third]);
});

const six = tests(6);
const confirming = (runs: readonly string[]) => runs.filter((one) => one.startsWith('confirm '));
/** Green as soon as there is a fix; without one, what is given. */
const unfixed =
  (shows: TestSimulation): TestSimulation =>
  (id, at) =>
    at.fixes.size > 0 ? null : shows(id, at);

it('HL-7 re-runs three of the tests that failed alike, and heals the others with them', async () => {
  const { runs, report, verdicts } = await simulatedRun(
    six,
    unfixed(() => 'shared'),
  );
  expect(confirming(runs)).toEqual(['confirm t1 t2 t3']);
  expect(report.causes.map(({ tests }) => tests)).toEqual([six]);
  expect(new Set(Object.values(verdicts))).toEqual(new Set(['healed']));
});

it('HL-7 runs all of them if the three have several causes', async () => {
  const shows = unfixed((id, { run }) => (run > 1 && id === 't2' ? 'another' : 'shared'));
  const { runs, report } = await simulatedRun(six, shows);
  expect(confirming(runs)).toEqual(['confirm t1 t2 t3', 'confirm t4 t5 t6']);
  expect(report.causes.map(({ tests }) => tests)).toEqual([['t1', 't3', 't4', 't5', 't6'], ['t2']]);
});

it('CS-7 runs up to two green tests of the same file with the red ones', async () => {
  const { runs } = await simulatedRun(
    six,
    unfixed((id) => (id === 't3' ? 'boom' : null)),
  );
  expect(confirming(runs)).toEqual(['confirm t3 t1 t2']);
});

it('EV-1 keeps both errors of a test that fails differently in its second run', async () => {
  const { session } = await simulatedRun(
    ['t1'],
    unfixed((_, { run }) => (run === 1 ? 'first error' : 'another')),
  );
  const { failures } = await readFailureRecords(session.folder.dir);
  const { otherRun, errors } = failures.at(-1)?.evidence ?? {};
  expect(errors?.map(({ message }) => message)).toEqual(['Error: another']);
  expect(otherRun).toMatchObject({ run: 'first', errors: [{ message: 'Error: first error' }] });
});

it('HL-7 groups tests with the same error, and tests that wait in vain on the same page', () => {
  const missing = (locator: string) =>
    anError(`TimeoutError: locator.click: Timeout 5ms exceeded.\nCall log:\n  - waiting for ${locator}\n`);
  const waiting = (id: string, page: string | null) =>
    failing(id, id, { evidence: anEvidence({ errors: [missing(`locator('#${id}')`)], ariaSnapshot: page }) });
  const [a, b, other, unknown] = [
    waiting('a', 'overlay'),
    waiting('b', 'overlay'),
    waiting('c', 'shop'),
    waiting('d', null),
  ];
  const value = failing('e', 'e', {
    evidence: anEvidence({ errors: [anError('Error: expect(1).toBe(2)')], ariaSnapshot: 'shop' }),
  });
  const same = failing('f', 'f', { signature: value.signature });
  expect(groupAlike([a, b, other, unknown, value, same])).toEqual([
    [a, b],
    [other],
    [unknown],
    [value, same],
  ]);
});

it('CS-7 chooses fast tests near a failing test, from its file or else from its project', () => {
  const at = (id: string, line: number, over = {}) =>
    aTest(id, { location: { file: 'a.spec.ts', line, column: 1 }, titlePath: ['a.spec.ts', id], ...over });
  const green = [
    at('far', 90),
    at('near', 12),
    at('above', 7),
    at('grouped', 80, { titlePath: ['a.spec.ts', 'cart', 'grouped'] }),
    at('other project', 11, { project: 'firefox' }),
    at('other file', 11, { location: { file: 'b.spec.ts', line: 11, column: 1 } }),
  ].map((test) => ({ ...aResult(test.id, 'expected'), test }));
  const slow = { ...aResult('slow', 'expected'), test: at('slow', 10), durationMs: 20_000 };
  const failed = (id: string, over = {}) => ({
    ...failing(id, id),
    failure: aTestFailure({ test: at(id, 10, over) }),
  });
  expect(chooseNeighbors([failed('x'), failed('y')], [slow, ...green])).toEqual(['near', 'above']);
  const inGroup = failed('x', { titlePath: ['a.spec.ts', 'cart', 'x'] });
  expect(chooseNeighbors([inGroup], green)).toEqual(['grouped', 'near']);
  const only = green.filter(({ test }) => test.id.startsWith('other'));
  expect(chooseNeighbors([inGroup], only)).toEqual(['other file']);
});

const withRegression = someSettings({ verify: { ...someSettings().verify, regression: 'suite' } });
const broken = aSuiteRun({ suiteFailure: { scope: 'suite', errors: [], stderr: '' } });
const kept = anAttempt({ end: anEnd('green'), change: '1' });

/** A run whose first suite did not start and whose tests appeared after kept fixes; `red` are the red tests of each run that follows. */
async function regressionAfter(red: readonly (readonly string[])[], fixes = [kept]) {
  const ids = ['t1', 't2', 't3'];
  const asked: (readonly string[] | null)[] = [];
  const made = await healingSession([], {
    settings: withRegression,
    suite: {
      rerun: async (request) => {
        asked.push(request.ids);
        const now = red[asked.length - 1] ?? [];
        return aSuiteRun({
          tests: ids.map((id) => aResult(id, now.includes(id) ? 'unexpected' : 'expected')),
        });
      },
    },
  });
  const { moves, events } = made;
  const stack = fixes.flatMap(({ change }) => change ?? []);
  let inTree: readonly string[] = stack;
  const workspace: Session['workspace'] = {
    ...made.session.workspace,
    listApplied: () => inTree,
    revertTemporarily: async (out) => {
      inTree = stack.filter((id) => !out.includes(id));
      return made.session.workspace.revertTemporarily(out);
    },
    revert: async (out) => {
      for (const id of out) stack.splice(stack.indexOf(id), 1);
      inTree = stack;
      return made.session.workspace.revert(out);
    },
  };
  const session: Session = { ...made.session, workspace, observations: new Observations(workspace) };
  announceTests(session, broken);
  announceTests(session, aSuiteRun({ tests: ids.map((id) => aResult(id)) }));
  const progress = createProgress(session, broken);
  for (const [n, attempt] of fixes.entries()) {
    const cause = aCause({ id: `c${n + 1}`, lead: failing('t1') });
    announceCause(progress, cause);
    session.bus.emit({ type: 'attempt.judged', causeId: cause.id, attempt });
    await endCause(progress, cause, { verdict: 'healed', reason: '' });
  }
  await proveFixes(progress, broken);
  const { regression, tests, causes } = createReport(session.bus.getRun());
  const ofCauses = new Set(causes.flatMap((cause) => cause.tests));
  const unexplained = tests.flatMap(({ id, verdict }) =>
    verdict === 'failed' && !ofCauses.has(id) ? [id] : [],
  );
  return { regression, tests, unexplained, asked, moves, causes, events };
}

it('HN-6 a test that is red in the regression run and green in its re-run is flaky', async () => {
  const { regression, tests, moves } = await regressionAfter([['t2'], []]);
  expect(regression?.broke).toEqual([]);
  expect(tests.map((one) => one.verdict)).toEqual(['passed', 'flaky', 'passed']);
  expect(moves).toEqual([]);
});

it('HN-6 reverts the fix that broke a test, and its cause says so', async () => {
  const { regression, moves, causes, events } = await regressionAfter([['t3'], ['t3'], []]);
  expect(regression?.broke).toMatchObject([{ causeId: 'c1', tests: ['t3'] }]);
  expect(moves).toEqual(['without 1', 'revert 1']);
  expect(causes[0]).toMatchObject({ verdict: 'failed', attempts: [{ end: { kind: 'taken-out' } }] });
  // After a kill, the kept fixes are read from the events (HN-8).
  expect(events).toContainEqual({
    type: 'attempt.judged',
    causeId: 'c1',
    attempt: { ...kept, end: { kind: 'taken-out', because: expect.any(String) as unknown } },
  });
});

it('HN-6 reapplies the fix if the test is red without it too; the test stays red', async () => {
  const { regression, unexplained, moves } = await regressionAfter([['t3'], ['t3'], ['t3']]);
  expect(regression?.broke).toEqual([]);
  expect(moves).toEqual(['without 1', 'without']);
  expect(unexplained).toEqual(['t3']);
});

it('HN-6 reverts all fixes that broke the same test, and only them', async () => {
  const fixes = ['1', '2', '3'].map((change) => ({ ...kept, change }));
  const stillRed = Array.from({ length: 5 }, () => ['t3']);
  // Red with each of them out, green with all, red with the newest out as before, green with the newest two, and in the end.
  const { regression, unexplained, moves, causes } = await regressionAfter([...stillRed, [], [], []], fixes);
  expect(moves).toEqual([
    'without 3',
    'without 2',
    'without 1',
    'without 3,2,1',
    'without 3,2',
    'revert 3,2',
  ]);
  expect(regression?.broke).toEqual([
    { causeId: 'c3', tests: ['t3'] },
    { causeId: 'c2', tests: ['t3'] },
  ]);
  expect(causes.map(({ verdict }) => verdict)).toEqual(['healed', 'failed', 'failed']);
  expect(unexplained).toEqual([]);
});

const confirmedAlready = someSettings({ verify: { ...someSettings().verify, confirm: 0 } });
const needsKeys = { diagnosis: aDiagnosis({ retry: 'never_retry' }) };

/** A run in which `count` tests fail, each for a different reason that only a person can fix. */
async function runWith(count: number) {
  const ids = tests(count);
  const made = await healingSession([], {
    settings: confirmedAlready,
    diagnostics: { diagnose: async () => ids.map((id) => failing(id, `401 of ${id}`, needsKeys)) },
  });
  const first = aSuiteRun({ tests: ids.map((id) => aResult(id, 'unexpected')) });
  announceTests(made.session, first);
  return { ...made, record: await healRun(made.session, first) };
}

it('ME-2 ME-11 pauses healing at the fifth question, asks no further ones, and exits with 4', async () => {
  const { record, events, agents, session } = await runWith(7);
  const questions = events.filter((event) => event.type === 'agent.waiting_for_input');
  expect(questions).toHaveLength(5);
  expect(agents).toEqual([]);
  expect(events.at(-1)).toEqual({ type: 'agent.build_paused', status: 'escalation_threshold_exceeded' });
  const causes = session.bus.getRun().causes.flatMap(({ ended }) => ended ?? []);
  expect(causes.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 5 }, () => 'escalated'));
  const final = decideOutcome({
    tests: listReportTests(session.bus.getRun()).map((one) => one.verdict),
    causes,
    suiteRed: record.suiteRed,
    paused: record.paused,
    interruptedBy: null,
    failOnHeal: false,
    failOnFlaky: false,
  });
  expect(final).toEqual({ outcome: 'paused', exitCode: 4 });
});

const { verify, limits } = wholeProof;
const reviewer = { name: 'review-fix', slashCommand: '/review-fix', runner: 'second', timeoutMs: 1000 };
const settings = {
  ...wholeProof,
  agents: { ...wholeProof.agents, 'review-fix': reviewer },
  runners: { ...wholeProof.runners, second: { kind: 'codex' as const } },
  verify: { ...verify, review: 'always' as const },
  reviewer: 'second',
};
const hides: Opinion = { verdict: 'hides', file: null, line: null, why: 'it swallows the error' };
const noUsage = { costUsd: null, inputTokens: null, outputTokens: null, turns: null, sessionId: null };

/** Test t1 is green with any change. */
const byAny: TestSimulation = (_, { fixes }) => (fixes.size > 0 ? null : 'error of t1');

/** A run whose fixer and reviewer are told apart by their slash command. */
function reviewed(answers: readonly (Opinion | AgentRun['end'])[], over = {}) {
  const left = [...answers];
  return simulatedRun(['t1'], byAny, {
    settings,
    runAgent: async ({ agent }) => {
      if (agent.name !== reviewer.name) return completedRun;
      const answer = left.shift() ?? hides;
      const said = 'kind' in answer ? { end: answer } : { opinion: answer };
      return { ...completedRun, claim: null, usage: { ...noUsage, costUsd: 0.25 }, ...said };
    },
    ...over,
  });
}

const readingOf = ({ report }: Awaited<ReturnType<typeof reviewed>>) =>
  report.causes[0]?.attempts[0]?.reading;
const honest: Opinion = { verdict: 'honest', file: null, line: null, why: 'fine' };
const unsure: Opinion = { verdict: 'unsure', file: null, line: null, why: 'what a member pays is nowhere' };

it('HN-11 keeps an honest fix, with its reviewer’s remark and cost', async () => {
  const run = await reviewed([honest]);
  expect(run.causes).toEqual(['c1 healed']);
  expect(run.report.causes[0]?.attempts).toMatchObject([{ costUsd: 0.75 }]);
  expect(run.session.spending.getTotals()).toEqual({ agentRuns: 2, costUsd: 0.75 });
  expect(readingOf(run)).toEqual({ ...honest, by: 'second' });
});

it('HN-11 a fix that hides the fault is reverted, and the next agent reads why', async () => {
  const prompts: string[] = [];
  const answers = [hides, honest];
  const run = await simulatedRun(['t1'], byAny, {
    settings,
    runAgent: async ({ agent, prompt }) => {
      if (agent.name === reviewer.name) return { ...completedRun, opinion: answers.shift() ?? hides };
      prompts.push(prompt);
      return completedRun;
    },
  });
  expect(run.causes).toEqual(['c1 healed']);
  expect([...run.fixes]).toEqual(['3']);
  expect(prompts[0]).not.toContain(hides.why);
  expect(prompts[1]).toContain(`APPROACH 1 FAILED: \`second: it hides the fault: ${hides.why}\``);
});

it('HN-11 after the last attempt a person decides on a fix that hides the fault', async () => {
  const run = await reviewed([hides, hides, hides, hides]);
  expect(run.causes).toEqual(['c1 escalated']);
  expect([...run.fixes]).toEqual([]);
  const attempts = run.report.causes[0]?.attempts ?? [];
  const offered = { end: { kind: 'offered', side: 'app', hides: true } };
  expect(attempts).toMatchObject([offered, offered, offered]);
  expect(run.events).toContainEqual(
    expect.objectContaining({
      type: 'agent.waiting_for_input',
      question: expect.stringContaining(hides.why),
    }),
  );
});

it.each<[string, Opinion | AgentRun['end']]>([
  ['is unsure', unsure],
  ['crashes', { kind: 'exited', exitCode: 3 }],
  ['cannot work', { kind: 'unusable', reason: 'status 401', remedy: 'Log in.' }],
  ['takes too long', { kind: 'timed-out', afterMs: 1 }],
])('HN-11 asks a person, with the proof, about a fix if its reviewer %s', async (_, answer) => {
  const run = await reviewed([answer]);
  expect(run.causes).toEqual(['c1 escalated']);
  expect(run.verdicts).toEqual({ t1: 'escalated' });
  expect([...run.fixes]).toEqual([]);
  const proof = ['red', 'red', 'green', 'green', 'green', 'red', 'green'];
  expect(run.report.causes[0]?.attempts).toMatchObject([{ end: { kind: 'offered', side: 'app', proof } }]);
});

it('HN-11 HN-9 asks a person if a limit prevents the review', async () => {
  const run = await reviewed([hides], { settings: { ...settings, limits: { ...limits, agentRuns: 1 } } });
  expect(run.causes).toEqual(['c1 escalated']);
  expect(run.session.spending.getTotals().agentRuns).toBe(1);
  expect(readingOf(run)).toMatchObject({
    verdict: 'no-answer',
    why: expect.stringContaining('limits.agentRuns'),
  });
});

it.each([
  ['that review is off', { verify }, 'verify.review is off'],
  [
    'that its agent is a command without a reviewer',
    {
      reviewer: null,
      runners: { own: { kind: 'command' as const, command: ['x'], prompt: 'stdin' as const } },
    },
    'own is a custom command, so agents.yaml must name a runner for the agent review-fix',
  ],
])('HN-11 a fix that is not reviewed enters, and the report says %s', async (_, over, why) => {
  const agents = Object.entries(settings.agents).map(([name, agent]) => [name, { ...agent, runner: 'own' }]);
  const byOwn = 'runners' in over ? { agents: Object.fromEntries(agents) as typeof settings.agents } : {};
  const run = await reviewed([hides], { settings: { ...settings, ...over, ...byOwn } });
  expect(run.causes).toEqual(['c1 healed']);
  expect(run.session.spending.getTotals().agentRuns).toBe(1);
  expect(readingOf(run)).toMatchObject({ verdict: 'not-read', by: null, why });
});

const anEdit = async (contents: ContentStore) => {
  const state = async (text: string) => ({
    kind: 'file' as const,
    mode: 0o644,
    hash: await contents.put(Buffer.from(text)),
  });
  return { path: 'src/a.ts', before: await state('old'), after: await state('new') };
};

it('HN-11 the built-in fixer’s certain fixes are not reviewed, nor a fix that was reviewed before', async () => {
  const proposed = (over: Partial<ProposedFix>) =>
    reviewed([hides], {
      hooks: {
        proposers: [
          async function* () {
            yield {
              agent: 'debugger',
              summary: 'as before',
              edits: async (_root: string, contents: ContentStore) => ok([await anEdit(contents)]),
              proposedBy: 'memory',
              ...over,
            };
          },
        ],
      },
    });
  const byFixer = await proposed({ agent: 'built-in', proposedBy: 'fixer' });
  const remembered = await proposed({ reading: { ...honest, by: 'second' } });
  for (const run of [byFixer, remembered]) {
    expect(run.causes).toEqual(['c1 healed']);
    expect(run.session.spending.getTotals().agentRuns).toBe(0);
  }
  const unread = await proposed({});
  expect(unread.session.spending.getTotals().agentRuns).toBeGreaterThan(0);
});

it('HN-11 reviews the fixes of two causes in parallel, and reverts only the one that hides a fault', async () => {
  const run = await simulatedRun(['t1', 't2'], own, {
    settings: { ...settings, retries: { ...settings.retries, max: 1 }, limits: { ...limits, parallel: 2 } },
    runAgent: async ({ agent, prompt }) => {
      if (agent.name !== reviewer.name) return completedRun;
      return { ...completedRun, opinion: prompt.includes('Error: error of t1') ? hides : honest };
    },
  });
  expect(run.causes).toEqual(['c1 escalated', 'c2 healed']);
  expect([...run.fixes]).toEqual(['2']);
});

it('HN-11 prefers another program as reviewer, and falls back to the fixer’s own', async () => {
  const home = tempDir('home');
  writeInto(home, { '.claude/commands/review-fix.md': 'x' });
  vi.stubEnv('HOME', home);
  vi.stubEnv('PATH', programs({ claude: '', codex: '' }));
  const asked: string[] = [];
  const agents = Object.values(settings.agents).map((agent) => [agent.name, { ...agent, runner: 'claude' }]);
  const run = await simulatedRun(['t1'], byAny, {
    settings: {
      ...settings,
      reviewer: null,
      agents: Object.fromEntries(agents) as typeof settings.agents,
      runners: { claude: { kind: 'claude' }, codex: { kind: 'codex' } },
    },
    runAgent: async ({ agent }) => {
      if (agent.name !== reviewer.name) return completedRun;
      asked.push(agent.runner);
      const unusable = { kind: 'unusable' as const, reason: 'status 401', remedy: 'Log in.' };
      return agent.runner === 'codex'
        ? { ...completedRun, end: unusable }
        : { ...completedRun, opinion: honest };
    },
  });
  vi.unstubAllEnvs();
  expect(asked).toEqual(['codex', 'claude']);
  expect(readingOf(run)).toEqual({ ...honest, by: 'claude' });
});

/** A promise, and what resolves it. */
function signal() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

it('HN-11 the proof continues during a review, and ends after both finish', async () => {
  const [begun, proven] = [signal(), signal()];
  let isGreen = false;
  const run = await simulatedRun(
    ['t1'],
    (test, at) => {
      isGreen ||= at.fixes.size > 0;
      if (at.purpose === 'regression') proven.resolve();
      return byAny(test, at);
    },
    {
      settings,
      // Nothing is proven before the reviewer is at work, and it answers only at the last run.
      pause: () => (isGreen ? begun.promise : Promise.resolve()),
      runAgent: async ({ agent }) => {
        if (agent.name !== reviewer.name) return completedRun;
        begun.resolve();
        await proven.promise;
        return { ...completedRun, opinion: honest };
      },
    },
  );
  expect(run.causes).toEqual(['c1 healed']);
});

const byOneChange = {
  blame: async () => ({
    next: async () => false,
    needsRun: () => false,
    haveDifferentCauses: () => false,
    findBlame: async () => aBlame(),
  }),
};

it('HL-6 BL-1 causes that one change broke get one agent, whose fix is proven on all their tests', async () => {
  const run = await simulatedRun(tests(3), sharedApart, byOneChange);
  expect(run.causes).toEqual(['c1 healed']);
  expect(run.verdicts).toEqual({ t1: 'healed', t2: 'healed', t3: 'healed' });
  expect(run.agents).toHaveLength(1);
  expect(run.report.causes[0]?.tests).toHaveLength(3);
});

it.each([
  ['an unreachable host', { advice: 'the machine reaches nothing' }],
  ['a password that is missing', { retry: 'never_retry' as const }],
])(
  'HL-7 BL-1 a change that turns the test green when reverted refutes %s, and an agent starts',
  async (_, over) => {
    // More than are run before the first agent.
    let runsLeft = 6;
    const run = await simulatedRun(tests(1), own, {
      blame: async () => ({
        next: async () => (runsLeft -= 1) > 0,
        needsRun: () => runsLeft > 0,
        haveDifferentCauses: () => false,
        findBlame: async () => (runsLeft > 0 ? null : aBlame()),
      }),
      diagnosis: over,
    });
    expect(run.causes).toEqual(['c1 healed']);
    expect(run.agents).toHaveLength(1);
  },
);

it.each(['code_error', 'never_retry'] as const)(
  'BL-2 ME-6 no run looks for the change to blame while the question of its cause is open: %s',
  async (retry) => {
    const openEscalation = anEscalation({ signature: 'shop:Error:error of t1' });
    const known = await noStore.recordFailure('', '');
    let searched = 0;
    const run = await simulatedRun(tests(1), own, {
      blame: async () => ({
        next: async () => (searched += 1) > 0,
        needsRun: () => searched === 0,
        haveDifferentCauses: () => false,
        findBlame: async () => null,
      }),
      store: {
        ...noStore,
        listEscalations: async () => [openEscalation],
        recordFailure: async () => ({ ...known, openEscalation }),
      },
      diagnosis: { retry },
    });
    expect(run.causes).toEqual(['c1 escalated']);
    expect(searched).toBe(0);
  },
);

it('HL-6 BL-6 a person is asked one question about causes that one change broke', async () => {
  const run = await simulatedRun(tests(3), sharedApart, {
    ...byOneChange,
    settings,
    runAgent: async ({ agent }) =>
      agent.name === reviewer.name ? { ...completedRun, opinion: unsure } : completedRun,
  });
  expect(run.causes).toEqual(['c1 escalated']);
  expect(run.events.filter(({ type }) => type === 'agent.waiting_for_input')).toHaveLength(1);
});

it('HL-6 a test that a shared fix leaves red becomes a cause of its own', async () => {
  const run = await simulatedRun(tests(2), own, byOneChange);
  expect(run.causes).toEqual(['c1 healed', 'c3 healed']);
  expect([...run.fixes]).toEqual(['1', '2']);
});

// The simulated clock begins in 1970.
it.each([
  ['until the end of its day', '1970-01-01', 'quarantined'],
  ['no longer after it', '1969-12-31', 'healed'],
])('ME-7 PB-6 agents.yaml quarantines a test by its name in reports, %s', async (_, until, verdict) => {
  const { report } = await simulatedRun(['t1'], shared);
  const name = formatTitles(report.tests[0]?.title ?? []);
  // What cannot be seen in a name does not count.
  const settings = someSettings({ quarantine: [{ test: `${name}\ufe0f`, until }] });
  const quarantined = await simulatedRun(['t1'], shared, { settings });
  expect(quarantined.report.tests).toMatchObject([{ verdict }]);
});
