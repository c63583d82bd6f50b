import { expect, it } from 'vitest';
import { rememberedAs } from '../../../src/heal/remembered-as.js';
import { aDiagnosed, aDiagnosis } from '../../rig/builders.js';

const decidedBy = (evidence: string, confidence = 0.95) =>
  aDiagnosed({
    signature: 'shop:Error:00000000',
    diagnosis: aDiagnosis({
      why: [{ rule: 'r', category: 'runtime-error', source: 'server', evidence, confidence }],
    }),
  });

it('ME-1 the same error of a test behind which a server fails differently is another one to the store', () => {
  const first = rememberedAs(decidedBy("KeyError: 'total'"));
  expect(first).toMatch(/^shop:Error:[\da-f]{8}$/);
  expect(first).toBe(rememberedAs(decidedBy("KeyError: 'total'")));
  expect(first).not.toBe(rememberedAs(decidedBy("AttributeError: 'Order' has no attribute 'sum'")));
});

it('ME-1 what is only a hint does not change the signature that the store knows', () => {
  expect(rememberedAs(decidedBy('KeyError', 0.3))).toBe('shop:Error:00000000');
});
