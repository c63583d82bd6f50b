import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../../src/core/verdict.js';
import { healRun } from '../../../src/heal/run.js';
import { tellSeen } from '../../../src/heal/tell-tests.js';
import { reportTests } from '../../../src/run/report.js';
import { aDiagnosis, aResult, aSuiteRun, failing, someSettings } from '../../rig/builders.js';
import { finished, healingSession } from '../../rig/healing-session.js';
import { type Shows, simulatedRun, wholeProof } from '../../rig/simulated-run.js';

const confirmedAlready = someSettings({ verify: { ...someSettings().verify, confirm: 0 } });
const needsKeys = { diagnosis: aDiagnosis({ retry: 'never_retry' }) };

/** A run in which `count` tests fail, each for a different reason that only a person can fix. */
async function runWith(count: number) {
  const ids = Array.from({ length: count }, (_, index) => `t${index + 1}`);
  const made = await healingSession([], {
    settings: confirmedAlready,
    diagnose: async () => ids.map((id) => failing(id, `401 of ${id}`, needsKeys)),
  });
  const first = aSuiteRun({ tests: ids.map((id) => aResult(id, 'unexpected')) });
  tellSeen(made.session, first);
  return { ...made, record: await healRun(made.session, first) };
}

it('ME-2 ME-11 pauses healing at the fifth question, asks no further ones, and exits with 4', async () => {
  const { record, events, agents, session } = await runWith(7);
  const questions = events.filter((event) => event.type === 'agent.waiting_for_input');
  expect(questions).toHaveLength(5);
  expect(agents).toEqual([]);
  expect(events.at(-1)).toEqual({ type: 'agent.build_paused', status: 'escalation_threshold_exceeded' });
  expect(record.causes.map((cause) => cause.verdict)).toEqual(Array.from({ length: 5 }, () => 'escalated'));
  const final = outcomeOf({
    tests: reportTests(session.bus.run()).map((one) => one.verdict),
    causes: record.causes,
    suiteRed: record.suiteRed,
    paused: record.paused,
    interruptedBy: null,
    failOnHeal: false,
    failOnFlaky: false,
  });
  expect(final).toEqual({ outcome: 'paused', exitCode: 4 });
});

it('HL-3 HL-7 CS-10 still confirms and heals an error if the suite does not start in one of its runs', async () => {
  const shows = (_: string, { fixes }: { fixes: ReadonlySet<string> }) =>
    fixes.has('2') ? null : fixes.has('1') ? 'another' : 'boom';
  const { causes, verdicts, runs } = await simulatedRun(['t1'], shows, {
    stops: ({ run }) => run === 2,
  });
  expect(runs.slice(0, 6)).toEqual([
    'first t1',
    'confirm t1',
    'confirm t1',
    'retest t1',
    'retest t1',
    'retest t1',
  ]);
  expect(causes).toEqual(['c1 superseded', 'c2 healed']);
  expect(verdicts).toEqual({ t1: 'healed' });
});

it('HL-2 CS-10 does not retry tests forever if the suite no longer starts', async () => {
  const shows = (_: string, { fixes }: { fixes: ReadonlySet<string> }) =>
    fixes.has('1') ? 'another' : 'boom';
  const { causes, verdicts } = await simulatedRun(['t1'], shows, { stops: ({ run }) => run > 5 });
  expect(causes).toEqual(['c1 superseded', 'c2 failed']);
  expect(verdicts).toEqual({ t1: 'failed' });
});

it('HN-7 runs a failed test again with a fix that was made after its cause had failed, even if the cause of that fix is older', async () => {
  // The first fix of t1 does not hold in the proof; its second one heals t2, too, which had failed by then.
  const shows: Shows = (test, { fixes, purpose }) => {
    const first = test === 't1' && fixes.has('1') && purpose !== 'proof' && purpose !== 'regression';
    return first || fixes.has('4') ? null : `fault of ${test}`;
  };
  const { verdicts, causes } = await simulatedRun(['t1', 't2'], shows);
  expect(causes).toEqual(['c1 healed', 'c2 healed']);
  expect(verdicts).toEqual({ t1: 'healed', t2: 'healed' });
});

describe('a chain of attempts that does not end in a proven heal leaves nothing', () => {
  /** The first fix only changes the error; the second one heals it if it may. */
  const chain =
    (heals: boolean): Shows =>
    (_, { fixes }) =>
      fixes.has('1') ? (heals && fixes.has('2') ? null : 'another') : 'boom';

  it('HN-1 HL-3 is kept as a whole, decided by its proof, if it does', async () => {
    const { causes, verdicts, fixes, decided } = await simulatedRun(['t1'], chain(true));
    expect(causes).toEqual(['c1 superseded', 'c2 healed']);
    expect(verdicts).toEqual({ t1: 'healed' });
    expect([...fixes]).toEqual(['1', '2']);
    expect(decided.toSorted()).toEqual(['1', '2']);
  });

  it('HN-1 if its last error is not healed', async () => {
    const { causes, verdicts, fixes, decided, report } = await simulatedRun(['t1'], chain(false));
    expect(causes).toEqual(['c1 superseded', 'c2 failed']);
    expect(verdicts).toEqual({ t1: 'failed' });
    expect(report.causes[0]?.attempts).toMatchObject([{ end: { kind: 'taken-out' } }]);
    expect([[...fixes], decided]).toEqual([[], []]);
  });

  it('HN-1 if a limit ends it', async () => {
    const settings = { ...wholeProof, limits: { ...wholeProof.limits, agentRuns: 1 } };
    const { record, fixes } = await simulatedRun(['t1'], chain(true), { settings });
    expect(record.causes).toMatchObject([{ verdict: 'superseded' }, { overBudget: true }]);
    expect([...fixes]).toEqual([]);
  });

  it('HN-1 if its next agent cannot work', async () => {
    let runs = 0;
    const unusable = { kind: 'unusable', reason: 'Not logged in', remedy: 'Log in.' } as const;
    const runAgent = async () => ((runs += 1) > 1 ? { ...finished, end: unusable } : finished);
    const { causes, fixes } = await simulatedRun(['t1'], chain(true), { runAgent });
    expect(causes).toEqual(['c1 superseded', 'c2 agent-unusable']);
    expect([...fixes]).toEqual([]);
  });

  it.each([5, 6])('HN-1 if it is interrupted in Playwright run %i', async (signalAfter) => {
    const { verdicts, fixes, decided } = await simulatedRun(['t1'], chain(true), { signalAfter });
    expect(verdicts).toEqual({ t1: 'failed' });
    expect([[...fixes], decided]).toEqual([[], []]);
  });

  it('HN-1 if its last fix does not hold in the proof; the others are proven without it', async () => {
    // Fix 1 gets t1 past its first error, fix 3 seems to heal it; fix 2 heals t2.
    const seen: string[] = [];
    const shows: Shows = (id, at) => {
      if (id === 't2') {
        if (at.purpose === 'regression') seen.push([...at.fixes].join());
        return at.fixes.has('2') ? null : 'fault of t2';
      }
      if (!at.fixes.has('1')) return 'boom';
      return at.fixes.has('3') && at.purpose === 'retest' ? null : 'another';
    };
    const { causes, verdicts, fixes } = await simulatedRun(['t1', 't2'], shows);
    expect(causes).toEqual(['c1 superseded', 'c2 healed', 'c3 failed']);
    expect(verdicts).toEqual({ t1: 'failed', t2: 'healed' });
    expect([...fixes]).toEqual(['2']);
    expect(seen).toEqual(['2']);
  });

  it('HN-1 HN-6 if its last fix breaks another test', async () => {
    const shows: Shows = (id, at) =>
      id === 't2' ? (at.fixes.has('2') ? 'broken' : null) : chain(true)(id, at);
    const { verdicts, fixes } = await simulatedRun(['t1', 't2'], shows);
    expect(verdicts).toEqual({ t1: 'failed', t2: 'passed' });
    expect([...fixes]).toEqual([]);
  });

  it('HN-1 HN-6 takes out what followed with a fix that breaks another test', async () => {
    const shows: Shows = (id, at) =>
      id === 't2' ? (at.fixes.has('1') ? 'broken' : null) : chain(true)(id, at);
    const { verdicts, fixes } = await simulatedRun(['t1', 't2'], shows);
    expect(verdicts).toEqual({ t1: 'failed', t2: 'passed' });
    expect([...fixes]).toEqual([]);
  });

  it('HN-5 HN-7 proves the first fix if nothing more is needed after all', async () => {
    // The error behind the first fix shows twice, and then no more.
    const shows: Shows = (_, { fixes, run }) => (fixes.has('1') ? (run < 5 ? 'another' : null) : 'boom');
    const given = await simulatedRun(['t1'], shows, { idle: ['2'] });
    expect(given.verdicts).toEqual({ t1: 'healed' });
    expect([...given.fixes]).toEqual(['1']);
  });
});
