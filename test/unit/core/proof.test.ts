import { expect, it } from 'vitest';
import { renderProof } from '../../../src/core/proof.js';

it('HN-5 prints the proof with a bar wherever the code or the result changed', () => {
  const proof = ['red', 'red', 'green', 'green', 'green', 'red', 'green'] as const;
  expect(renderProof(proof)).toBe('red red | green green green | red | green');
  expect(renderProof([])).toBe('');
});
