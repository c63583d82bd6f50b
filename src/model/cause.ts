import { z } from 'zod';
import { type Blame, canBeReverted } from './blame.js';
import { isProjectRule } from '../diagnose/rule.js';
import { diagnosisShape, type RetryAxis } from './diagnosis.js';
import { type Evidence, evidenceShape } from './evidence.js';
import type { Flake } from './flake.js';
import { type Failure, suiteFailureShape, testFailureShape, testShape } from './failure.js';
import { listOf, ownId, textOrNull, textList } from './shape.js';

/** The stored part of a failure. */
export const failureRecordShape = z.object({
  /** Counted from 1 within the run; names its folder, `failures/<n>/`. */
  n: z.int().positive(),
  failure: z.discriminatedUnion('scope', [testFailureShape, suiteFailureShape]),
  evidence: evidenceShape,
  diagnosis: diagnosisShape,
  /** `{project}:{errorType}:{hash8}` (ME-1). */
  signature: z.string(),
  /** Ids of the Playwright tests that reproduce exactly this failure; empty for a failure of the suite itself. */
  rerunIds: textList,
  /** Tests among `rerunIds` that were green before it in the red run, whether it needs them or not. Absent if there are none. */
  along: textList.exactOptional(),
  /** Tests among `rerunIds` without which it is green. Leaves out setups, which always run. Absent if it is red alone, or if unknown. */
  needs: textList.exactOptional(),
  /** Writes to the app by tests that passed in the same run, by test id. Absent if there are none. */
  writes: z.record(z.string(), textList).exactOptional(),
  /** The tests of `needs`, with their writes to the app. */
  neededTests: listOf(z.object({ name: z.string(), at: z.string(), writes: textList })).exactOptional(),
  /** The fault of this machine that explains the failure, in a sentence; null if there is none, absent if the machine was not examined. */
  machine: textOrNull.exactOptional(),
});

/** A failure with its evidence and its diagnosis. */
export interface DiagnosedFailure extends z.infer<typeof failureRecordShape> {
  readonly failure: Failure;
  readonly evidence: Evidence;
  /** The number of a similar failure that was re-run in place of this one; absent if this one was re-run. */
  readonly like?: number;
  /** True if its run was traced, so another run could not add evidence. */
  readonly isTraced?: boolean;
}

/** A cause as the events store it. The state of a run and the report extend this shape. */
export const causeRecordShape = z.object({
  id: ownId,
  signature: z.string(),
  ...diagnosisShape.pick({ category: true, alternatives: true, confidence: true, why: true }).shape,
  tests: listOf(testShape),
  /** The first line of the leading failure's message. */
  headline: z.string(),
  /** The first frame of the user's own code, `src/cart.ts:12:5`; null if no stack has one. */
  source: textOrNull,
  parent: ownId.nullable(),
  warning: textOrNull,
  /** The folder of its leading failure, relative to the run's: context.json, prompt.md, screenshot … */
  evidence: z.string().regex(/^failures\/\d+$/),
});
export type CauseRecord = z.infer<typeof causeRecordShape>;

/** All failures of a run that share a root cause: the unit of healing (HL-6). */
export interface Cause {
  /** `c1`, `c2` … within the run. */
  readonly id: string;
  /** The failure that an agent gets. */
  readonly lead: DiagnosedFailure;
  readonly members: readonly DiagnosedFailure[];
  /** The cause whose partial fix revealed this one (HL-3), or null. */
  readonly parent: string | null;
  /** Why no agent can help (HL-7), for example because many tests failed on one dead server; null if one can. */
  readonly environment: string | null;
  /** The change that broke its lead test, proven by runs (BL-1); absent if there was no search, or it found none. */
  readonly blame?: Blame;
  /** The measurements of its test, if that is flaky. */
  readonly flake?: Flake;
}

/**
 * True if a search for the breaking change can show that the machine is not at fault. It cannot if self-heal has found the fault on the machine
 * itself, or if the test passes although it is marked to fail.
 */
export function canBlameRuleOutMachine({ lead }: Pick<Cause, 'lead'>): boolean {
  const { failure, machine } = lead;
  return !machine && !(failure.scope === 'test' && failure.status === 'passed');
}

/** Returns why no agent can help. Null if reverting a change to the app turns the test green, because then code can fix it (HL-7). */
export function explainWhyNoAgentHelps({
  environment,
  blame,
}: Pick<Cause, 'environment' | 'blame'>): string | null {
  return canBeReverted(blame) ? null : environment;
}

/**
 * Returns the kind of repair that a cause needs (CS-11). If a change to the code broke the test, code can fix it, regardless of the error; only the
 * project's own rules outrank that.
 */
export function chooseRetryAxis({ lead, blame }: Pick<Cause, 'lead' | 'blame'>): RetryAxis {
  const { retry, why } = lead.diagnosis;
  return blame && !why.some(({ rule }) => isProjectRule(rule)) ? 'code_error' : retry;
}
