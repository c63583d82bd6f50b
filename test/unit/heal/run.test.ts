import { expect, it } from 'vitest';
import { outcomeOf } from '../../../src/core/outcome.js';
import { healRun } from '../../../src/heal/run.js';
import { tellSeen } from '../../../src/heal/tell-tests.js';
import { reportTests } from '../../../src/run/report-of.js';
import { aDiagnosis, aResult, aSuiteRun, failing, someSettings } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';
import { type Shows, simulatedRun } from '../../rig/simulated-run.js';

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

it('ME-2 ME-6 does not pause healing at four questions', async () => {
  const { record, events } = await runWith(4);
  expect(record.paused).toBe(false);
  expect(events.map((event) => event.type)).not.toContain('agent.build_paused');
});

it('HL-3 HL-7 CS-10 still confirms and heals an error if the suite does not start in one of its runs', async () => {
  const shows = (_: string, { fixes }: { fixes: ReadonlySet<string> }) =>
    fixes.has('2') ? null : fixes.has('1') ? 'another' : 'boom';
  const stops = [2, 5];
  const { causes, verdicts, runs } = await simulatedRun(['t1'], shows, {
    stops: ({ run }) => stops.includes(run),
  });
  expect(runs.slice(0, 6)).toEqual([
    'first t1',
    'confirm t1',
    'confirm t1',
    'retest t1',
    'confirm t1',
    'confirm t1',
  ]);
  expect(causes).toEqual(['c1 superseded', 'c2 healed']);
  expect(verdicts).toEqual({ t1: 'healed' });
});

it('HL-2 CS-10 does not retry tests forever if the suite no longer starts', async () => {
  const shows = (_: string, { fixes }: { fixes: ReadonlySet<string> }) =>
    fixes.has('1') ? 'another' : 'boom';
  const { causes, verdicts } = await simulatedRun(['t1'], shows, { stops: ({ run }) => run > 3 });
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
