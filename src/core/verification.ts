import type { Violation } from './guard-findings.js';
import type { Proof } from './proof.js';

/**
 * What became of a change that somebody else made. `proven`: all that was asked is shown. `review`: it is, but only a person can say whether the
 * tests may do what they do now. `refused`: a test checks less, or the app cheats. `red`: a test that it is for is still red. `unsteady`: green
 * and red with it. `needless`: green without it, too. `breaks`: a test is red because of it. `unproven`: it is green, and it could not be shown
 * to be red without the change.
 */
export const changeVerdicts = [
  'proven',
  'review',
  'refused',
  'red',
  'unsteady',
  'needless',
  'breaks',
  'unproven',
] as const;

/** One of `changeVerdicts`. */
export type ChangeVerdict = (typeof changeVerdicts)[number];

/** `quick` runs only the tests that were red, `full` repeats them and runs the whole suite as well. */
export const proofDepths = ['quick', 'full'] as const;

/** One of `proofDepths`. */
export type ProofDepth = (typeof proofDepths)[number];

/** Something in a change that is not honest, or that only a person can let in, with its place. */
export type Finding = Pick<Violation, 'rule' | 'file' | 'line' | 'says'>;

/** What was shown about the changes in the working tree. */
export interface Verification {
  readonly verdict: ChangeVerdict;
  /** The verdict in a sentence without its period. */
  readonly reason: string;
  readonly depth: ProofDepth;
  /** What the working tree was compared with. */
  readonly base: {
    readonly commit: string;
    /** The red run at whose end these files were as compared, uncommitted changes too; null if only the commit counts. */
    readonly runId: string | null;
  };
  /** The files that differ, relative to the root of the repository. */
  readonly files: readonly string[];
  /** Why it is refused, or what a person has to look at. */
  readonly findings: readonly Finding[];
  /** The runs of each test that the change is for, in order. */
  readonly tests: readonly { readonly id: string; readonly proof: Proof }[];
  readonly proven: readonly string[];
  readonly notProven: readonly string[];
}
