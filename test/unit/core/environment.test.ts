import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import type { Evidence } from '../../../src/core/evidence.js';
import { environmentOf } from '../../../src/core/group-keys.js';
import { aSuiteFailure, anError, anEvidence, aTestFailure, failing } from '../../rig/builders.js';
import { jsonLines } from '../../rig/json-lines.js';

const diagnosed = (over: Partial<Evidence>) => {
  const evidence = anEvidence(over);
  return { ...failing('t1'), evidence, diagnosis: classify(evidence) };
};

it('HL-7 a test that is marked to fail and passes gets no agent: only breaking the app would turn it green', () => {
  const passed = { ...failing('t1'), failure: aTestFailure({ status: 'passed' }) };
  expect(environmentOf([passed])).toContain('remove its `test.fail`');
  expect(environmentOf([passed, failing('t2')])).toBeNull();
});

it('HL-7 a test without its snapshot gets no agent, which would accept whatever the test shows now', () => {
  const message = "Error: A snapshot doesn't exist at /shop/tests/cart.spec.ts-snapshots/cart-linux.png.";
  const without = diagnosed({ errors: [anError(message)] });
  expect(environmentOf([without])).toContain('run `playwright test` once');
  expect(environmentOf([without, failing('t2')])).toBeNull();
});

/** A suite that did not start, what its server printed, and a part of what a person is told; null if an agent may help. */
interface Stopped {
  readonly message: string;
  readonly serverOutput: string;
  readonly advice: string | null;
}

it.each(jsonLines<Stopped>(import.meta.dirname, 'machine.jsonl'))(
  'HL-7 CS-11 what only a person or the machine can mend gets no agent: $message $serverOutput',
  ({ message, serverOutput, advice }) => {
    const stopped = { ...diagnosed({ errors: [anError(message)], serverOutput }), failure: aSuiteFailure() };
    expect(environmentOf([stopped])).toEqual(advice === null ? null : expect.stringContaining(advice));
    if (advice !== null && serverOutput !== '') expect(stopped.diagnosis.retry).toBe('env_error');
    expect(environmentOf([{ ...stopped, machine: null }])).toBeNull();
  },
);
