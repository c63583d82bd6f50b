import { z } from 'zod';
import { exitCodes, findExitCode } from './exit-codes.js';
import type { ChangeVerdict } from './verification.js';

/**
 * The final statuses of a test (HN-7). `green-once`: green with a fix that cannot be proven here
 * (`CauseEnd.unproven`). `skipped`: the suite skips it; `not-run`: every Playwright run ended before it, so its result is unknown.
 */
export const verdicts = [
  'passed',
  'flaky',
  'healed',
  'green-once',
  'failed',
  'escalated',
  'rejected',
  'quarantined',
  'agent-unusable',
  'skipped',
  'not-run',
] as const;

export type Verdict = (typeof verdicts)[number];

/**
 * The final status of a cause. `superseded`: its fix revealed another failure, which has a cause of its own (HL-3). `interrupted`: the run
 * ended during the work on it, so nothing is known about its fix.
 */
export const causeVerdicts = [...verdicts, 'superseded', 'interrupted'] as const;

export type CauseVerdict = (typeof causeVerdicts)[number];

const trueIfSet = z.literal(true).exactOptional();

/** How a cause ended, with the reason as a sentence. */
export const causeEndShape = z.object({
  verdict: z.enum(causeVerdicts),
  reason: z.string(),
  /** Set if a limit was reached before the cause was healed (exit code 4). */
  overBudget: trueIfSet,
  /** Set if an earlier run asked its question, which nobody has answered yet (ME-6). */
  askedBefore: trueIfSet,
  /** Set if the fault is outside of the code, so no agent can help (HL-7). */
  environment: trueIfSet,
  /** Set if it is green with a fix, and only a person can decide whether the fix is needed (exit code 3). */
  unproven: trueIfSet,
});
export type CauseEnd = z.infer<typeof causeEndShape>;

/** True if it is green with a fix, proven or not. */
export function isHealed(verdict: CauseVerdict): boolean {
  return verdict === 'healed' || verdict === 'green-once';
}

/** True if a cause needs no more work: it is healed, or its fix revealed another failure. */
export function isResolved(verdict: CauseVerdict): boolean {
  return isHealed(verdict) || verdict === 'superseded';
}

/** The final statuses of a run. */
export const outcomes = [
  'green',
  'red',
  'escalated',
  'paused',
  'budget',
  'agent-unusable',
  'interrupted',
] as const;

export type RunOutcome = (typeof outcomes)[number];

/** The facts that determine the outcome of a run. */
export interface RunResult {
  readonly tests: readonly Verdict[];
  readonly causes: readonly Pick<CauseEnd, 'verdict' | 'overBudget' | 'environment' | 'unproven'>[];
  /** True if the suite itself still fails. */
  readonly suiteRed: boolean;
  /** True if the run paused because too many causes need a person. */
  readonly paused: boolean;
  /** The verdict on the changes in the working tree, if there is one. */
  readonly verified?: ChangeVerdict;
  /** True if the fix is withheld from other programs because it contains a secret. */
  readonly isWithheld?: boolean;
  readonly interruptedBy: 'SIGINT' | 'SIGTERM' | null;
  readonly failOnHeal: boolean;
  readonly failOnFlaky: boolean;
}

/** An outcome with its exit code (CL-5). */
export interface FinalOutcome {
  readonly outcome: RunOutcome;
  readonly exitCode: number;
}

const green: FinalOutcome = { outcome: 'green', exitCode: exitCodes.green };
const red: FinalOutcome = { outcome: 'red', exitCode: exitCodes.red };
const needsPerson: FinalOutcome = { outcome: 'escalated', exitCode: exitCodes.personNeeded };

/** The outcome for each verdict on a change: the results of the tests alone do not decide it. */
const changeOutcomes: Readonly<Record<ChangeVerdict, FinalOutcome>> = {
  proven: green,
  review: needsPerson,
  refused: red,
  red,
  unsteady: red,
  needless: red,
  breaks: red,
  unproven: needsPerson,
};

/** Decides a run's outcome: a cause that needs a person takes precedence over red tests. */
export function decideOutcome(run: RunResult): FinalOutcome {
  const { tests, causes } = run;
  if (run.interruptedBy) return { outcome: 'interrupted', exitCode: findExitCode(run.interruptedBy) };
  if (run.verified) return changeOutcomes[run.verified];
  if (causes.some((cause) => cause.verdict === 'agent-unusable'))
    return { outcome: 'agent-unusable', exitCode: exitCodes.agentUnusable };
  if (run.paused) return { outcome: 'paused', exitCode: exitCodes.budget };
  if (causes.some((cause) => cause.overBudget)) return { outcome: 'budget', exitCode: exitCodes.budget };
  const isForPerson = ({ verdict, environment, unproven }: RunResult['causes'][number]) =>
    verdict === 'escalated' || unproven === true || (verdict === 'failed' && environment === true);
  if (causes.some(isForPerson) || run.isWithheld) return needsPerson;
  // Tests that depend on a quarantined test cannot run either.
  const hasUnknownResults = tests.includes('not-run') && !tests.includes('quarantined');
  const isRed = tests.some((verdict) => verdict === 'failed' || verdict === 'rejected');
  if (isRed || hasUnknownResults || run.suiteRed) return red;
  const isUnwelcome =
    (run.failOnHeal && [...tests, ...causes.map(({ verdict }) => verdict)].some(isHealed)) ||
    (run.failOnFlaky && tests.includes('flaky'));
  return { outcome: 'green', exitCode: isUnwelcome ? exitCodes.red : exitCodes.green };
}
