import { expect, it } from 'vitest';
import type { DiagnosedFailure } from '../../../src/core/cause.js';
import { chooseFlipped } from '../../../src/core/alike.js';
import { aCause, aDiagnosed, aTest, aTestFailure } from '../../rig/builders.js';
import { simulatedRun, type Shows } from '../../rig/simulated-run.js';

/** All tests fail the same way, and one change heals them. */
const shared: Shows = (_, { fixes }) => (fixes.has('1') ? null : 'shared');
const five = ['t1', 't2', 't3', 't4', 't5'];
const proofsOf = ({ report }: Awaited<ReturnType<typeof simulatedRun>>) =>
  report.causes[0]?.testProofs?.map(({ proof, ended }) => [proof.join(' '), ended]);

it('HL-6 HN-5 proves a fix on every test of its cause, in as many Playwright runs as for one, with three in each red one', async () => {
  const run = await simulatedRun(five, shared);
  expect(run.report.causes).toHaveLength(1);
  expect(proofsOf(run)).toEqual([
    ...five.slice(0, 3).map(() => ['red red green green green red green', 'proven']),
    ...five.slice(3).map(() => ['red green green green', 'green']),
  ]);
  expect(run.runs.map((one) => one.split(' ').length - 1)).toEqual([5, 3, 3, 5, 5, 3, 5]);
  expect(run.verdicts).toEqual(Object.fromEntries(five.map((id) => [id, 'healed'])));
});

it('HL-6 turns tests that stay red with the fix into a cause of their own, with its own agent', async () => {
  const run = await simulatedRun(['t1', 't2', 't3'], (id, at) => (id === 't3' ? 'shared' : shared(id, at)));
  expect(proofsOf(run)?.map(([, ended]) => ended)).toEqual(['proven', 'proven', 'red']);
  expect(proofsOf(run)?.at(-1)).toEqual(['red red red', 'red']);
  expect(run.report.causes.map(({ id, parent, verdict }) => [id, parent, verdict])).toEqual([
    ['c1', null, 'healed'],
    ['c2', 'c1', 'failed'],
  ]);
  expect(run.verdicts).toEqual({ t1: 'healed', t2: 'healed', t3: 'failed' });
  expect(run.agents).toHaveLength(3);
});

it('HL-6 does not heal a test that is green with the fix and then red again', async () => {
  const run = await simulatedRun(['t1', 't2'], (id, at) =>
    id === 't2' && at.run === 4 ? 'shared' : shared(id, at),
  );
  expect(proofsOf(run)).toEqual([
    ['red red green green green red green', 'proven'],
    ['red red green red', 'unsteady'],
  ]);
  expect(run.verdicts).toEqual({ t1: 'healed', t2: 'flaky' });
});

it('HL-6 HN-7 reports a test that is also green with the change out as flaky, not healed', async () => {
  const run = await simulatedRun(['t1', 't2'], (id, at) =>
    id === 't2' && at.run > 2 ? null : shared(id, at),
  );
  expect(run.causes).toEqual(['c1 healed']);
  expect(run.verdicts).toEqual({ t1: 'healed', t2: 'flaky' });
  const flaky = run.events.filter((event) => event.type === 'cause.flaky');
  expect(flaky).toMatchObject([{ causeId: 'c1', tests: [{ id: 't2' }] }]);
});

it('HL-6 keeps the fix for the other tests if the leading test is flaky', async () => {
  const run = await simulatedRun(['t1', 't2'], (id, at) =>
    id === 't1' && at.run > 2 ? null : shared(id, at),
  );
  expect(run.report.causes[0]?.attempts[0]).toMatchObject({ end: { kind: 'green' } });
  expect(run.report.causes[0]?.proof.join(' ')).toMatch(/red green$/);
  expect(run.verdicts).toEqual({ t1: 'flaky', t2: 'healed' });
  expect([...run.fixes]).toEqual(['1']);
});

it('HL-6 HN-7 leaves the change out if all tests are green without it', async () => {
  const run = await simulatedRun(['t1', 't2'], (_, { run: n }) => (n > 2 ? null : 'shared'));
  expect(run.causes).toEqual(['c1 flaky']);
  expect(run.verdicts).toEqual({ t1: 'flaky', t2: 'flaky' });
  expect([...run.fixes]).toEqual([]);
});

it('HL-6 does not heal a test that only joined the cause and is red with its fix', async () => {
  const run = await simulatedRun(five, (id, at) => (id === 't5' ? 'shared' : shared(id, at)));
  expect(proofsOf(run)?.map(([, ended]) => ended)).toEqual(['proven', 'proven', 'proven', 'green', 'red']);
  expect(run.verdicts).toMatchObject({ t1: 'healed', t4: 'healed', t5: 'failed' });
  expect(run.report.causes.map(({ parent, tests }) => [parent, tests])).toEqual([
    [null, five],
    ['c1', ['t5']],
  ]);
});

it('HL-6 runs those tests without the fix that differ most: of other files, and run again before', () => {
  const one = (id: string, file: string, over: Partial<DiagnosedFailure> = {}): DiagnosedFailure => {
    const test = aTest(id, { location: { file, line: 1, column: 1 } });
    return aDiagnosed({ failure: aTestFailure({ test }), ...over });
  };
  const members = [one('a1', 'a'), one('a2', 'a', { like: 1 }), one('a3', 'a'), one('b1', 'b')];
  const [lead = one('', ''), , third, other] = members;
  expect([...chooseFlipped(aCause({ lead, members }))]).toEqual([lead, other, third]);
});
