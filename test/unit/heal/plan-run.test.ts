import { expect, it } from 'vitest';
import { planRun } from '../../../src/heal/plan-run.js';
import { aResult, aSuiteRun, aTestFailure, failing } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';

it('CL-7 HL-7 a dry run shows no prompt for a cause that would get no agent, and says why', async () => {
  const passed = failing('t1', 'Expected to fail, but passed.');
  const failure = aTestFailure({ ...passed.failure, scope: 'test', status: 'passed' });
  const run = aSuiteRun({ tests: [aResult('t1', 'unexpected')] });
  const given = { diagnose: async () => [{ ...passed, failure }], runAgain: async () => run };
  const { session, events } = await healingSession([], given);
  const shown: unknown[] = [];
  await planRun(session, run, (plan) => shown.push(plan));
  expect(shown).toEqual([]);
  expect(events).toContainEqual({
    type: 'run.warning',
    message: expect.stringMatching(/^c1 would get no agent: .*test\.fail/),
  });
});
