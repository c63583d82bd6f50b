import { expect, it } from 'vitest';
import { healCause } from '../../src/heal-cause.js';
import { aCause, failing, someSettings } from '../rig/builders.js';
import { healingSession, noChange } from '../rig/healing-session.js';

const cause = aCause({ lead: failing('t1', 'boom') });
const verify = { ...someSettings().verify, repeat: 3, flips: 1 };
const settings = someSettings({ verify });

it('HN-5 a heal is green three times, red with the change taken out, green with it put back', async () => {
  const { session, moves } = await healingSession([null, null, null, 'boom', null], { settings });
  const { attempts, conclusion } = await healCause(session, cause);
  expect(conclusion).toEqual({ verdict: 'healed', reason: 'fixed by code-review' });
  expect(attempts[0]?.proof).toEqual(['red', 'red', 'green', 'green', 'green', 'red', 'green']);
  expect(moves).toEqual(['1 out', '1 in']);
});

it('HN-5 a fix that was green once and red again has not held: it is taken back, and the next try told', async () => {
  const reruns = [null, 'boom', null, null, null, 'boom', null];
  const { session, moves } = await healingSession(reruns, { settings });
  const { attempts, conclusion } = await healCause(session, cause);
  expect(attempts.map((one) => [one.judged, one.takenBack])).toEqual([
    ['still-failing', true],
    ['green', false],
  ]);
  expect(attempts[0]?.failedBecause).toBe('green at first, and red again in run 2 of 3');
  expect(moves[0]).toBe('1 out');
  expect(conclusion.verdict).toBe('healed');
});

it('HN-5 HN-7 green with the change taken out too is a flake: the change stays out, nobody healed it', async () => {
  const { session, moves, agents } = await healingSession([null, null, null, null], { settings });
  const { attempts, conclusion } = await healCause(session, cause);
  expect(attempts).toMatchObject([{ judged: 'flaky', takenBack: true }]);
  expect(conclusion.verdict).toBe('flaky');
  expect(moves).toEqual(['1 out', '1 out']);
  expect(agents).toHaveLength(1);
});

it('HN-7 an agent that changed no file has healed nothing', async () => {
  const { session } = await healingSession([null, null, null], { settings });
  const idle = { ...session, workspace: { ...session.workspace, collect: async () => noChange } };
  const { conclusion } = await healCause(idle, cause);
  expect(conclusion.verdict).toBe('flaky');
  expect(conclusion.reason).toContain('changed no file');
});

it('HL-5 HN-7 green in the re-run without an agent is a flake', async () => {
  const { session } = await healingSession(['boom', 'boom', null, null, null], { settings });
  const { attempts, conclusion } = await healCause(session, cause);
  expect(attempts.at(-1)).toMatchObject({ agent: null, judged: 'flaky' });
  expect(conclusion.verdict).toBe('flaky');
});

it('HN-2 interrupted while the change is taken out, it stays out', async () => {
  const controller = new AbortController();
  const { session, moves } = await healingSession([null, null, null, 'boom'], {
    settings,
    signal: controller.signal,
  });
  let runs = 0;
  const runAgain: typeof session.runAgain = async (request) => {
    runs += 1;
    if (runs === 4) controller.abort();
    return session.runAgain(request);
  };
  const { conclusion } = await healCause({ ...session, runAgain }, cause);
  expect(conclusion.verdict).toBe('interrupted');
  expect(moves.at(-1)).toBe('1 out');
});
