import { expect, it } from 'vitest';
import type { DiagnosedFailure } from '../../src/core/cause.js';
import { chooseProven } from '../../src/core/choose-proven.js';
import { healRun } from '../../src/run.js';
import type { Session } from '../../src/session.js';
import {
  aCause,
  aDiagnosed,
  aResult,
  aSuiteRun,
  aTest,
  aTestFailure,
  failing,
  someSettings,
} from '../rig/builders.js';
import { healingSession } from '../rig/healing-session.js';

const verify = { ...someSettings().verify, repeat: 3, flips: 1 };
const settings = someSettings({ verify });
const shared = { signature: 'shop:Error:shared' };

interface Asked {
  purpose: string;
  ids: readonly string[] | null;
}

/**
 * A run of tests that fail alike, and of one agent whose fix is in or out; `isRed` says of a test what a run of it shows: the number of
 * its run with the fix in, from 1, or 0 with the fix out.
 */
async function runOf(
  ids: readonly string[],
  isRed: (id: string, run: number) => boolean,
  over: Partial<Session> = {},
) {
  const asked: Asked[] = [];
  const runs = new Map<string, number>();
  let isIn = false;
  let red: string[] = [...ids];
  const given = await healingSession([], {
    settings,
    runAgain: async ({ ids: some, purpose }) => {
      asked.push({ purpose, ids: some });
      red = (some ?? ids).filter((id) => {
        const run = isIn ? (runs.get(id) ?? 0) + 1 : 0;
        if (isIn) runs.set(id, run);
        return purpose === 'confirm' ? !isIn || isRed(id, run + 100) : isRed(id, run);
      });
      return aSuiteRun({
        tests: (some ?? ids).map((id) => aResult(id, red.includes(id) ? 'unexpected' : 'expected')),
      });
    },
    diagnose: async () => red.map((id) => failing(id, 'shared', shared)),
    ...over,
  });
  const session: Session = {
    ...given.session,
    runAgent: async (request) => {
      isIn = true;
      return given.session.runAgent(request);
    },
    workspace: {
      ...given.session.workspace,
      move: async (changes, to) => {
        isIn = to === 'in';
        return given.session.workspace.move(changes, to);
      },
    },
  };
  const first = aSuiteRun({ tests: ids.map((id) => aResult(id, 'unexpected')) });
  const record = await healRun(session, first);
  const verdicts = Object.fromEntries(record.tests.map(({ test, verdict }) => [test.id, verdict]));
  return { ...given, record, asked, verdicts };
}

const five = ['t1', 't2', 't3', 't4', 't5'];

it('HL-6 HN-5 a fix is proven on every test of its cause, in as many Playwright runs as for one', async () => {
  const { record, asked, verdicts } = await runOf(five, (_, run) => run === 0);
  expect(record.causes).toHaveLength(1);
  expect(
    record.causes[0]?.attempts[0]?.testProofs?.map(({ proof, ended }) => [proof.join(' '), ended]),
  ).toEqual(five.map(() => ['red red green green green red green', 'proven']));
  expect(asked.map(({ purpose, ids }) => `${purpose} ${ids?.length}`)).toEqual([
    'confirm 5',
    'retest 1',
    'shared-fix 4',
    'proof 5',
    'proof 5',
    'proof 5',
    'proof 5',
  ]);
  expect(verdicts).toEqual(Object.fromEntries(five.map((id) => [id, 'healed'])));
});

it('HL-6 tests that stay red with the fix become a cause of their own, with an agent of their own', async () => {
  const { record, verdicts, agents } = await runOf(['t1', 't2', 't3'], (id, run) => run === 0 || id === 't3');
  expect(record.causes[0]?.attempts[0]?.testProofs?.map(({ ended }) => ended)).toEqual([
    'proven',
    'proven',
    'red',
  ]);
  expect(record.causes.map(({ cause, verdict }) => [cause.id, cause.parent, verdict])).toEqual([
    ['c1', null, 'healed'],
    ['c2', 'c1', 'failed'],
  ]);
  expect(verdicts).toEqual({ t1: 'healed', t2: 'healed', t3: 'failed' });
  expect(agents).toHaveLength(3);
});

it('HL-6 a test that is green with the fix and red again is no part of the heal', async () => {
  const { record, verdicts } = await runOf(
    ['t1', 't2'],
    (id, run) => run === 0 || (id === 't2' && run === 2),
  );
  const [cause] = record.causes;
  expect(cause?.attempts[0]?.testProofs).toEqual([
    { id: 't1', ended: 'proven', proof: ['red', 'red', 'green', 'green', 'green', 'red', 'green'] },
    { id: 't2', ended: 'unsteady', proof: ['red', 'red', 'green', 'red'] },
  ]);
  expect(verdicts).toEqual({ t1: 'healed', t2: 'flaky' });
});

it('HL-6 HN-7 a test that is green with the change out is flaky, and was not healed by it', async () => {
  const { record, verdicts, events } = await runOf(['t1', 't2'], (id, run) => run === 0 && id === 't1');
  expect(record.causes).toMatchObject([{ verdict: 'healed' }]);
  expect(verdicts).toEqual({ t1: 'healed', t2: 'flaky' });
  const flaky = events.filter((event) => event.type === 'cause.flaky');
  expect(flaky).toMatchObject([{ causeId: 'c1', tests: [{ id: 't2' }] }]);
});

it('HL-6 a leading test that is flaky does not cost the others their fix', async () => {
  const { record, verdicts, moves } = await runOf(['t1', 't2'], (id, run) => run === 0 && id === 't2');
  expect(record.causes[0]?.attempts[0]).toMatchObject({
    judged: 'green',
    takenBack: false,
    proof: ['red', 'red', 'green', 'green', 'green', 'red', 'green'],
  });
  expect(verdicts).toEqual({ t1: 'flaky', t2: 'healed' });
  expect(moves).toEqual(['1 out', '1 in']);
});

it('HL-6 HN-7 nobody healed tests that are all green with the change out: it stays out', async () => {
  const { record, verdicts, moves } = await runOf(['t1', 't2'], () => false);
  expect(record.causes).toMatchObject([{ verdict: 'flaky' }]);
  expect(verdicts).toEqual({ t1: 'flaky', t2: 'flaky' });
  expect(moves.at(-1)).toBe('1 out');
});

it('HL-6 of many tests twenty are proven and the rest run once, which is said', async () => {
  const many = Array.from({ length: 23 }, (_, index) => `t${index + 1}`);
  const { record, events, verdicts } = await runOf(many, (_, run) => run === 0);
  const proofs = record.causes[0]?.attempts[0]?.testProofs ?? [];
  expect(proofs.filter(({ ended }) => ended === 'proven')).toHaveLength(20);
  expect(proofs.filter(({ ended }) => ended === 'run-once').map(({ proof }) => proof.join(' '))).toEqual(
    Array.from({ length: 3 }, () => 'red red green'),
  );
  expect(new Set(Object.values(verdicts))).toEqual(new Set(['healed']));
  expect(events).toContainEqual({
    type: 'run.warning',
    message: 'c1: its fix is proven on 20 of its 23 tests; the other 3 are run with it once',
  });
});

it('HL-6 tests that fail slowly are proven for five minutes of red at the most, those of other files first', () => {
  const slow = (id: string, file: string): DiagnosedFailure => {
    const test = aTest(id, { location: { file, line: 1, column: 1 } });
    return aDiagnosed({ failure: aTestFailure({ test, durationMs: 100_000 }) });
  };
  const members = [slow('a1', 'a'), slow('a2', 'a'), slow('a3', 'a'), slow('a4', 'a'), slow('b1', 'b')];
  const [lead = slow('', ''), second, third, , other] = members;
  expect([...chooseProven(aCause({ lead, members }))]).toEqual([lead, second, other, third]);
});
