import { z } from 'zod';
import { findingShape } from './guard-findings.js';
import { proofShape } from './proof.js';
import { listOf, runIdShape, texts } from './shape.js';

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

/** The verdict on the changes in the working tree, and what it rests on. */
export const verificationShape = z.object({
  verdict: z.enum(changeVerdicts),
  /** The verdict in a sentence without its period. */
  reason: z.string(),
  depth: z.enum(proofDepths),
  /** What the working tree was compared with. */
  base: z.object({
    commit: z.string(),
    /** The red run at whose end these files were as compared, uncommitted changes too; null if only the commit counts. */
    runId: runIdShape.nullable(),
  }),
  /** The files that differ, relative to the root of the repository. */
  files: texts,
  /** Why it is refused, or what a person has to look at. */
  findings: listOf(findingShape),
  /** The runs of each test that the change is for, in order. */
  tests: listOf(z.object({ id: z.string(), proof: proofShape })),
  proven: texts,
  notProven: texts,
});
export type Verification = z.infer<typeof verificationShape>;
