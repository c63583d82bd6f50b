import { z } from 'zod';
import { findingShape } from './guard-findings.js';
import { proofShape } from './proof.js';
import { listOf, runIdShape, textList } from './shape.js';

/**
 * The verdict on a change that self-heal did not make. `proven`: the proof is complete. `review`: the proof is complete, but a person must decide about
 * changed tests. `refused`: a test checks less, or the app cheats. `red`: a test is still red. `unsteady`: sometimes green and sometimes red with the
 * change. `needless`: green without it, too. `breaks`: the change turned another test red. `unproven`: green, but no run could show that it is red
 * without the change.
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

export type ChangeVerdict = (typeof changeVerdicts)[number];

/** `quick` runs only the tests that were red, `full` repeats them and runs the whole suite as well. */
export const proofDepths = ['quick', 'full'] as const;

export type ProofDepth = (typeof proofDepths)[number];

/** The verdict on the changes in the working tree, with its grounds. */
export const verificationShape = z.object({
  verdict: z.enum(changeVerdicts),
  /** The verdict in a sentence without its period. */
  reason: z.string(),
  depth: z.enum(proofDepths),
  /** The state with which the working tree was compared. */
  base: z.object({
    commit: z.string(),
    /** The red run whose final state of the files, with uncommitted changes, is the base; null if the base is only the commit. */
    runId: runIdShape.nullable(),
  }),
  /** The files that differ, relative to the root of the repository. */
  files: textList,
  /** Reasons for refusing it, or for a person's review. */
  findings: listOf(findingShape),
  /** The runs of each test that the change should fix, in order. */
  tests: listOf(z.object({ id: z.string(), proof: proofShape })),
  proven: textList,
  notProven: textList,
});
export type Verification = z.infer<typeof verificationShape>;
