import { expect, it } from 'vitest';
import { outcomeOf, type RunResult } from '../../../src/core/verdict.js';

const green: RunResult = {
  tests: ['passed'],
  causes: [],
  suiteRed: false,
  paused: false,
  interruptedBy: null,
  failOnHeal: false,
  failOnFlaky: false,
};
const cause = (verdict: RunResult['causes'][number]['verdict'], overBudget = false) => ({
  verdict,
  overBudget,
  cause: { environment: null },
});

it.each<[string, Partial<RunResult>, string, number]>([
  ['all passed', {}, 'green', 0],
  ['healed', { tests: ['passed', 'healed'], causes: [cause('healed')] }, 'green', 0],
  ['healed with failOnHeal', { tests: ['healed'], causes: [cause('healed')], failOnHeal: true }, 'green', 1],
  ['flaky', { tests: ['flaky'] }, 'green', 0],
  ['flaky with failOnFlaky', { tests: ['flaky'], failOnFlaky: true }, 'green', 1],
  ['a failed test', { tests: ['healed', 'failed'], causes: [cause('healed'), cause('failed')] }, 'red', 1],
  ['a test that no run got to', { tests: ['passed', 'not-run'] }, 'red', 1],
  ['what depends on a quarantined test', { tests: ['quarantined', 'not-run'] }, 'green', 0],
  ['a skipped test', { tests: ['passed', 'skipped'] }, 'green', 0],
  ['a suite that does not start', { tests: [], suiteRed: true, causes: [cause('failed')] }, 'red', 1],
  [
    'only the machine can be mended',
    { tests: ['failed'], causes: [{ ...cause('failed'), cause: { environment: 'start Docker' } }] },
    'escalated',
    3,
  ],
  ['a person is needed', { tests: ['failed', 'escalated'], causes: [cause('escalated')] }, 'escalated', 3],
  [
    'a limit was reached',
    { tests: ['failed'], causes: [cause('escalated'), cause('failed', true)] },
    'budget',
    4,
  ],
  [
    'no usable agent',
    { tests: ['failed'], causes: [cause('agent-unusable'), cause('escalated')] },
    'agent-unusable',
    5,
  ],
  ['Ctrl-C', { tests: ['failed'], interruptedBy: 'SIGINT' }, 'interrupted', 130],
  ['TERM', { tests: ['failed'], interruptedBy: 'SIGTERM' }, 'interrupted', 143],
])('CL-5 outcome and exit code: %s', (_, over, outcome, exitCode) => {
  expect(outcomeOf({ ...green, ...over })).toEqual({ outcome, exitCode });
});
