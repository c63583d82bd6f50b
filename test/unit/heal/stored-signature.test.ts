import { expect, it } from 'vitest';
import { storedSignature } from '../../../src/heal/stored-signature.js';
import { aDiagnosed, aDiagnosis } from '../../rig/builders.js';

const decidedBy = (evidence: string, confidence = 0.95) =>
  aDiagnosed({
    signature: 'shop:Error:00000000',
    diagnosis: aDiagnosis({
      why: [{ rule: 'r', category: 'runtime-error', source: 'server', evidence, confidence }],
    }),
  });

it('ME-1 the store distinguishes equal errors with different server errors behind them', () => {
  const first = storedSignature(decidedBy("KeyError: 'total'"));
  expect(first).toMatch(/^shop:Error:[\da-f]{8}$/);
  expect(first).toBe(storedSignature(decidedBy("KeyError: 'total'")));
  expect(first).not.toBe(storedSignature(decidedBy("AttributeError: 'Order' has no attribute 'sum'")));
});

it('ME-1 weak evidence does not change the stored signature', () => {
  expect(storedSignature(decidedBy('KeyError', 0.3))).toBe('shop:Error:00000000');
});
