/** What one run of the failing test showed. */
export type ProofStep = 'red' | 'green';

/**
 * The runs that prove a heal, in order (HN-5): red before, as often as it was confirmed; green after; red again with the change
 * reverted, green with it reapplied.
 */
export type Proof = readonly ProofStep[];

/**
 * What the proof of a fix says of one test of its cause (HL-6). `proven`: the whole of it. `run-once`: green with the fix, in one run;
 * beyond the limit of tests that are proven. `flaky`: green with the change out, too. `unsteady`: green with the fix, and red again.
 * `red`: the fix is not its own.
 */
export type ProofEnding = 'proven' | 'run-once' | 'flaky' | 'unsteady' | 'red';

/** The runs of one test of a cause, and what they come to. */
export interface TestProof {
  /** Playwright's id of the test. */
  readonly id: string;
  readonly proof: Proof;
  readonly ended: ProofEnding;
}

/** `red red | green green green | red | green`: a bar wherever the code or its result changed. */
export function renderProof(proof: Proof): string {
  return proof.map((step, index) => (index > 0 && step !== proof[index - 1] ? `| ${step}` : step)).join(' ');
}

const told: Readonly<Record<Exclude<ProofEnding, 'proven'>, string>> = {
  'run-once': 'green in one run',
  flaky: 'flaky',
  unsteady: 'not steady',
  red: 'still red',
};

/** The proof of a cause, and how many of its tests it holds for: `red | green (4 of 5 tests; 1 still red)`. */
export function tellProof(proof: Proof, tests: readonly TestProof[] = []): string {
  const scope = proofScope(tests);
  return scope === '' ? renderProof(proof) : `${renderProof(proof)} (${scope})`;
}

/** How many tests of a cause its proof holds for: `4 of 5 tests; 1 still red`; empty if there is only one. */
export function proofScope(tests: readonly TestProof[] = []): string {
  if (tests.length < 2) return '';
  const count = (ending: ProofEnding) => tests.filter(({ ended }) => ended === ending).length;
  const rest = (Object.keys(told) as (keyof typeof told)[])
    .filter((ending) => count(ending) > 0)
    .map((ending) => `${count(ending)} ${told[ending]}`);
  if (rest.length === 0) return `each of ${tests.length} tests`;
  return `${count('proven')} of ${tests.length} tests; ${rest.join(', ')}`;
}
