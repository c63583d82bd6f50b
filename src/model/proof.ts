import { z } from 'zod';
import { listOf } from './shape.js';

/**
 * The runs that prove a heal, in order (HN-5): red before, in the first run and each confirming run; green after; red again with the change
 * reverted, green with it reapplied.
 */
export const proofShape = listOf(z.enum(['red', 'green']));
export type Proof = z.infer<typeof proofShape>;

/** The result of one run of the failing test. */
export type ProofStep = Proof[number];

/**
 * What the proof of a fix shows about one test of its cause (HL-6). `proven`: the full proof. `green`: green with the fix
 * in every run; other tests of the cause have shown that it is red without it. `flaky`: green without the change, too. `unsteady`: green with
 * the fix at first, then red. `red`: this fix does not heal it.
 */
export type ProofOutcome = TestProof['ended'];

/** The runs of one test of a cause, and their result. */
export const testProofShape = z.object({
  /** Playwright's id of the test. */
  id: z.string(),
  proof: proofShape,
  ended: z.enum(['proven', 'green', 'flaky', 'unsteady', 'red']),
});
export type TestProof = z.infer<typeof testProofShape>;

/** Formats a proof as `red red | green green green | red | green`: a bar marks each change in the result. */
export function formatProof(proof: Proof): string {
  return proof.map((step, index) => (index > 0 && step !== proof[index - 1] ? `| ${step}` : step)).join(' ');
}

const outcomeWords: Readonly<Record<Exclude<ProofOutcome, 'proven'>, string>> = {
  green: 'green with the fix',
  flaky: 'flaky',
  unsteady: 'unstable',
  red: 'still red',
};

/** Formats the proof of a cause with the number of its tests that it covers: `red | green (4 of 5 tests; the other is still red)`. */
export function formatProofWithScope(proof: Proof, tests: readonly TestProof[] = []): string {
  const scope = describeProofScope(tests);
  return scope === '' ? formatProof(proof) : `${formatProof(proof)} (${scope})`;
}

/** Describes how many tests of a cause its proof covers: `4 of 5 tests; the other is still red`; empty if there is only one. */
export function describeProofScope(tests: readonly TestProof[] = []): string {
  if (tests.length < 2) return '';
  const count = (outcome: ProofOutcome) => tests.filter(({ ended }) => ended === outcome).length;
  const ends = (Object.keys(outcomeWords) as (keyof typeof outcomeWords)[]).filter(
    (outcome) => count(outcome) > 0,
  );
  const [only, ...more] = ends;
  if (only === undefined) return `each of ${tests.length} tests`;
  const others =
    more.length > 0
      ? `the others: ${ends.map((outcome) => `${count(outcome)} ${outcomeWords[outcome]}`).join(', ')}`
      : `the other ${count(only) === 1 ? 'is' : `${count(only)} are`} ${outcomeWords[only]}`;
  return `${count('proven')} of ${tests.length} tests; ${others}`;
}
