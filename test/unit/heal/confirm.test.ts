import { expect, it } from 'vitest';
import { createLongWaitHint } from '../../../src/heal/confirm.js';
import { noStore } from '../../../src/store/warning-store.js';
import { aDiagnosed, anError, aTestFailure } from '../../rig/builders.js';
import { type Shows, simulatedRun } from '../../rig/simulated-run.js';

const red = (...messages: string[]) =>
  aDiagnosed({ failure: aTestFailure({ errors: messages.map((message) => anError(message)) }) });
const click = 'Error: locator.click: Test timeout of 30000ms exceeded.';

it.each([
  ['an action that waits as long as its test', click, /30s.*actionTimeout/],
  ['an action that waits for less', 'Error: locator.click: Test timeout of 5000ms exceeded.', null],
  ['a test that no action holds up', 'Test timeout of 30000ms exceeded.', null],
] as const)('RP-1 suggests actionTimeout for %s only if it would help', (_, message, words) => {
  const hint = createLongWaitHint([red('Error: boom'), red(message)]);
  if (words === null) expect(hint).toBeNull();
  else expect(hint).toMatch(words);
});

/** Heals a test that earlier runs have seen red and green so often. */
async function runOf(shows: Shows, count: { readonly red: number; readonly green: number }) {
  const flake = { ...count, testId: 't1', name: 't1', kind: null, lastSeen: '2026-01-01T00:00:00.000Z' };
  const store = { ...noStore, listFlakes: async () => [flake] };
  const { runs, ...run } = await simulatedRun(['t1'], shows, { store });
  return { ...run, confirming: runs.filter((one) => one.startsWith('confirm')).length };
}

it('HL-7 a test that fails half of the time counts as a fault after seven red runs in a row', async () => {
  const { verdicts, agents, confirming } = await runOf((_, { run }) => (run <= 6 ? 'red' : null), {
    red: 3,
    green: 3,
  });
  expect(verdicts).toEqual({ t1: 'flaky' });
  expect(agents).toEqual([]);
  expect(confirming).toBe(6);
});

it('HL-7 a test that was rarely flaky counts as a fault after two red runs', async () => {
  const byFix: Shows = (_, { fixes }) => (fixes.size > 0 ? null : 'red');
  const { verdicts, confirming } = await runOf(byFix, { red: 1, green: 19 });
  expect(verdicts).toEqual({ t1: 'healed' });
  expect(confirming).toBe(1);
});

it.each([
  ['needs them if it is green alone once more', 'green', 'healed'],
  ['is flaky if it is red alone, too', 'red', 'flaky'],
] as const)(
  'HL-7 a test that is red twice after others, and green without them, %s',
  async (_, alone, verdict) => {
    // Red in the suite, green alone, red again after the test before it, and then alone once more.
    const shown = ['red', null, 'red', alone === 'red' ? 'red' : null];
    const shows: Shows = (test, { run, fixes }) => {
      if (test === 't1' || fixes.size > 0) return null;
      return run <= shown.length ? (shown[run - 1] ?? null) : 'red';
    };
    const { verdicts, agents } = await simulatedRun(['t1', 't2'], shows, { inOneFile: true });
    expect(verdicts).toEqual({ t1: 'passed', t2: verdict });
    expect(agents).toHaveLength(verdict === 'healed' ? 1 : 0);
  },
);
