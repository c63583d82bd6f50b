import { expect, it } from 'vitest';
import { environmentOf } from '../../../src/core/environment.js';
import { aTestFailure, failing } from '../../rig/builders.js';

it('HL-7 a test that is marked to fail and passes gets no agent: only breaking the app would turn it green', () => {
  const passed = { ...failing('t1'), failure: aTestFailure({ status: 'passed' }) };
  expect(environmentOf([passed])).toContain('remove its `test.fail`');
  expect(environmentOf([passed, failing('t2')])).toBeNull();
});
