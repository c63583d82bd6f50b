/** What one run of the failing test showed. */
export type ProofStep = 'red' | 'green';

/**
 * The runs that a heal rests on, in their order (HN-5): red before, as often as it was confirmed; green after; red again with the
 * change taken out, green with it put back.
 */
export type Proof = readonly ProofStep[];

/** `red red | green green green | red | green`: a bar wherever the code or its result changed. */
export function renderProof(proof: Proof): string {
  return proof.map((step, index) => (index > 0 && step !== proof[index - 1] ? `| ${step}` : step)).join(' ');
}
