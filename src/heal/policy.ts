import type { RunCosts } from '../model/spent.js';
import { type Attempt, getEndReason, hidesFault } from '../model/attempt.js';
import { formatAgentName, isBuiltIn } from '../model/built-in.js';
import type { RetryAxis } from '../model/diagnosis.js';
import { hasNoTriesLeft, noEarlierTries, type EarlierTries } from '../model/earlier-runs.js';
import type { LimitSettings, RetrySettings, Settings } from '../model/settings.js';
import type { CauseEnd } from '../model/verdict.js';
import type { DiagnosedFailure } from '../model/cause.js';

/** The history of one cause and the spending of the run: everything that a decision may depend on. */
export interface CauseHistory {
  readonly attempts: readonly Attempt[];
  /** The tries of earlier runs (ME-8); absent if there were none. */
  readonly earlier?: EarlierTries;
  readonly retry: RetryAxis;
  /** The reason why no agent can help, such as an unreachable server, or null (HL-7). */
  readonly environment: string | null;
  /** The agents to try, primary first, then the alternative classes' agents (CS-7). */
  readonly agents: readonly string[];
  /** True once the wait after the last failed attempt is over. */
  readonly hasWaited: boolean;
  readonly spent: RunCosts;
  /** True if there may be a fix that needs no agent: one that a person chose, from a patch file, from memory, or from the built-in fixer. */
  readonly hasProposals?: boolean;
  /** The reason why the cause has no agent, unless it has no route. */
  readonly noAgent?: string;
}

/** The settings that a decision depends on. */
export interface Policy {
  readonly retries: RetrySettings;
  readonly limits: LimitSettings;
}

/** The next step for a cause. */
export type NextStep =
  /** Try the next fix that needs no agent, if there is one. */
  | { readonly kind: 'propose'; readonly attempt: number }
  | { readonly kind: 'deploy'; readonly agent: string; readonly attempt: number }
  | { readonly kind: 'wait'; readonly delayMs: number; readonly attempt: number }
  /** Re-run the test without a change (HL-5). */
  | { readonly kind: 'retest'; readonly attempt: number }
  | { readonly kind: 'escalate'; readonly question: string }
  | { readonly kind: 'end'; readonly end: CauseEnd };

/** After this many rejected attempts, healing gives a cause up: agents are warned once (HN-3). */
const REJECTIONS_BEFORE_VERDICT = 2;

/** After this many conflicts, healing gives a cause up: the user is editing the same lines, and the user's edits win. */
const CONFLICTS_BEFORE_VERDICT = 3;

/** After this many failed fixes, the last retry runs without an agent (HL-5). */
const FAILED_FIXES_BEFORE_BARE_RETEST = 2;

/**
 * Decides the next step for a cause (HL-8), as a pure function of its history and the policy. The retry count is the number of attempts, because one
 * re-run judges each attempt (HL-1).
 */
export function decideNextStep(causeHistory: CauseHistory, policy: Policy): NextStep {
  const decision = decideNext(causeHistory, policy);
  const hidingFix = causeHistory.attempts.findLast(hidesFault);
  const givesUp =
    decision.kind === 'end' &&
    !decision.end.overBudget &&
    (decision.end.verdict === 'failed' || decision.end.verdict === 'rejected');
  // Before healing gives up, a person is shown the fix that, according to the reviewer, hides the fault (HN-11).
  return hidingFix && givesUp
    ? { kind: 'escalate', question: `is this fix what you want? ${getEndReason(hidingFix)}` }
    : decision;
}

function decideNext(causeHistory: CauseHistory, policy: Policy): NextStep {
  const newest = causeHistory.attempts.at(-1);
  const builtInEnd = newest && isBuiltIn(newest) && endByOutcome(newest);
  if (builtInEnd) return builtInEnd;
  // An attempt without an agent does not count as a try of the signature (BF-5).
  const history = {
    ...causeHistory,
    attempts: causeHistory.attempts.filter((attempt) => !isBuiltIn(attempt)),
    tries: causeHistory.attempts.length,
  };
  const last = history.attempts.at(-1);
  const outcome = last && endAfterAttempt(last, history, policy);
  if (outcome) return outcome;
  if (!last && history.environment)
    return { kind: 'end', end: { verdict: 'failed', reason: history.environment, environment: true } };
  if (!last && history.retry === 'never_retry') {
    return {
      kind: 'escalate',
      question: 'It needs credentials, a permission or a quota that only a person can provide.',
    };
  }
  if (!last && causeHistory.hasProposals && history.spent.elapsedMs < policy.limits.timeMs)
    return { kind: 'propose', attempt: getNextAttemptNumber(history) };
  if (!last && hasNoTriesLeft(readEarlierTries(history), policy.retries.max)) {
    const { count } = readEarlierTries(history);
    return {
      kind: 'escalate',
      question: `${plural(count, 'try', 'tries')} in earlier runs did not heal it.`,
    };
  }
  const needsNoWait = last?.end.kind === 'rejected' || last?.end.kind === 'conflict';
  if (!last || history.hasWaited || needsNoWait) return planNextTry(history, policy);
  const delayMs = backoffMs(listCountedAttempts(history).length, policy.retries);
  // Ends now instead of waiting for a try that cannot start, for example because the time limit would pass meanwhile.
  const elapsedMs = history.spent.elapsedMs + delayMs;
  const next = planNextTry({ ...history, spent: { ...history.spent, elapsedMs } }, policy);
  return next.kind === 'end' ? next : { kind: 'wait', delayMs, attempt: last.n };
}

/** A history with only the agents' attempts; `tries` counts all attempts. */
type CountedHistory = CauseHistory & { readonly tries: number };

/** Ends a cause after any attempt if no error remains, another error replaced it, or the project cannot be written to. */
function endByOutcome({ agent, end: outcome }: Attempt): NextStep | null {
  if (outcome.kind === 'green') return end('healed', `fixed by ${formatAgentName(agent ?? 'nobody')}`);
  if (outcome.kind === 'flaky')
    return outcome.isOutside
      ? { kind: 'escalate', question: outcome.because }
      : end('flaky', outcome.because);
  if (outcome.kind === 'changed') return end('superseded', outcome.because);
  if (outcome.kind === 'offered' && !outcome.hides) return { kind: 'escalate', question: outcome.because };
  // A read-only file or a full disk would block the next fix, too.
  return outcome.kind === 'unwritable' ? end('failed', outcome.because) : null;
}

function getNextAttemptNumber(history: CountedHistory): number {
  return readEarlierTries(history).count + history.tries + 1;
}

function planNextTry(history: CountedHistory, policy: Policy): NextStep {
  const attempt = getNextAttemptNumber(history);
  if (mustRetestWithoutAgent(history, policy.retries)) return { kind: 'retest', attempt };
  const reached = findReachedLimit(history.spent, policy.limits);
  if (reached === null) return deployAgent(history, attempt);
  return { kind: 'end', end: { verdict: 'failed', reason: reached, overBudget: true } };
}

function endAfterAttempt(last: Attempt, history: CauseHistory, policy: Policy): NextStep | null {
  const because = getEndReason(last) ?? '';
  if (last.end.kind === 'interrupted') return end('interrupted', 'interrupted while an agent was working');
  if (last.end.kind === 'unusable') return end('agent-unusable', `${last.end.because}. ${last.end.remedy}`);
  if (last.end.kind === 'denied') return end('agent-unusable', 'the agent program denied every edit');
  const outcome = endByOutcome(last);
  if (outcome) return outcome;
  const rejections = history.attempts.filter((attempt) => attempt.end.kind === 'rejected').length;
  if (rejections >= REJECTIONS_BEFORE_VERDICT)
    return end('rejected', `even after a warning, its agent's fix ${because}`);
  const conflicts = history.attempts.length - listCountedAttempts(history).length;
  if (conflicts >= CONFLICTS_BEFORE_VERDICT)
    return end('failed', 'its files kept changing while its agents were working');
  if (last.claim?.status === 'needs-person') return { kind: 'escalate', question: last.claim.summary };
  // The agent would get the same prompt again.
  if (gaveUp(last) && chooseAgent(history) === last.agent)
    return end('failed', `its agent found no fix: ${last.claim?.summary || 'it did not say why'}`);
  if (countTries(history) >= policy.retries.max) {
    if (last.end.kind === 'rejected')
      return end('rejected', `no retries are left, and its agent's fix ${because}`);
    const earlierCount = readEarlierTries(history).count;
    const earlierTries = earlierCount > 0 ? `, ${earlierCount} of them in earlier runs` : '';
    return end(
      'failed',
      `still failing after ${plural(countTries(history), 'retry', 'retries')}${earlierTries}`,
    );
  }
  return null;
}

function readEarlierTries(history: CauseHistory): EarlierTries {
  return history.earlier ?? noEarlierTries;
}

/** A signature has one retry budget across all runs (ME-2, ME-8). */
function countTries(history: CauseHistory): number {
  return readEarlierTries(history).count + listCountedAttempts(history).length;
}

/** Returns the attempts that count as tries. An attempt that could not be applied is repeated and does not count (HN-1). */
function listCountedAttempts({ attempts }: CauseHistory): readonly Attempt[] {
  return attempts.filter((attempt) => attempt.end.kind !== 'conflict');
}

function mustRetestWithoutAgent(history: CauseHistory, retries: RetrySettings): boolean {
  const failedFixes = listCountedAttempts(history).filter(
    (attempt) =>
      attempt.agent !== null &&
      attempt.files.length > 0 &&
      attempt.end.kind !== 'rejected' &&
      !hidesFault(attempt),
  );
  const failed = readEarlierTries(history).failedFixes + failedFixes.length;
  return countTries(history) + 1 >= retries.max && failed >= FAILED_FIXES_BEFORE_BARE_RETEST;
}

/** Names the limit that keeps further agents from starting for a cause; null if none is reached (HN-9). */
export function findReachedLimit(spent: RunCosts, limits: LimitSettings): string | null {
  if (spent.agentRuns >= limits.agentRuns) return `limits.agentRuns (${limits.agentRuns}) was reached`;
  if (spent.costUsd >= limits.costUsd) return `limits.costUsd (${limits.costUsd}) was reached`;
  const { lastDay } = spent;
  const { perDay } = limits;
  if (lastDay.agentRuns + spent.agentRuns >= perDay.agentRuns)
    return `limits.perDay.agentRuns (${perDay.agentRuns}) was reached`;
  if (lastDay.costUsd + spent.costUsd >= perDay.costUsd)
    return `limits.perDay.costUsd (${perDay.costUsd}) was reached`;
  if (spent.elapsedMs >= limits.timeMs) return describeTimeLimit(limits);
  if (spent.agentRunsOnTest >= limits.agentRunsPerTest)
    return `limits.agentRunsPerTest (${limits.agentRunsPerTest}) was reached`;
  return null;
}

function describeTimeLimit({ timeMs }: Pick<LimitSettings, 'timeMs'>): string {
  return `limits.time (${Math.round(timeMs / 600) / 100} min) was reached`;
}

/** True if an agent says that it has not fixed the failure, and changed nothing. */
function gaveUp({ claim, files, cut = [] }: Attempt): boolean {
  return claim?.status === 'not-fixed' && files.length === 0 && cut.length === 0;
}

function chooseAgent(history: CauseHistory): string | undefined {
  return history.agents[countTries(history)] ?? history.agents[0];
}

/** Deploys the primary agent first, then the agents of the alternatives (CS-7), then the primary again. */
function deployAgent(history: CauseHistory, attempt: number): NextStep {
  const agent = chooseAgent(history);
  if (agent === undefined) return end('failed', history.noAgent ?? 'no agent is configured for this failure');
  return { kind: 'deploy', agent, attempt };
}

function end(verdict: CauseEnd['verdict'], reason: string): NextStep {
  return { kind: 'end', end: { verdict, reason } };
}

function plural(count: number, singular: string, pluralForm: string): string {
  return `${count} ${count === 1 ? singular : pluralForm}`;
}

/** Returns the wait in milliseconds after the n-th failed attempt: initial · factor^(n-1), at most max (HL-4). */
export function backoffMs(attemptsMade: number, retries: RetrySettings): number {
  const { initialMs, factor, maxMs } = retries.backoff;
  return Math.min(initialMs * factor ** (attemptsMade - 1), maxMs);
}

/** True if `limits.escalations` causes of this run need a person, so that no more agents start (ME-2). Escalations of earlier runs do not count. */
export function isPaused(
  causes: readonly Pick<CauseEnd, 'verdict' | 'askedBefore'>[],
  limits: LimitSettings,
): boolean {
  const asked = causes.filter((cause) => cause.verdict === 'escalated' && !cause.askedBefore);
  return asked.length >= Math.max(1, limits.escalations);
}

/** Playwright's default pattern for spec files. */
const spec = /\.(?:spec|test)\.[cm]?[jt]sx?(?=[:\s"')]|$)/;

/**
 * Returns the agents for a failure, in order: those of its class, then those of each alternative (CS-7). A spec that does not compile goes
 * to a person, not to an agent: self-heal could not tell whether a change weakens its tests (HN-3).
 */
export function listAgentsForFailure(
  failed: Pick<DiagnosedFailure, 'failure' | 'diagnosis'>,
  routes: Settings['routes'],
): string[] {
  if (isBrokenSpec(failed)) return [];
  const { category, alternatives } = failed.diagnosis;
  return [...new Set([category, ...alternatives].flatMap((category) => routes[category]))];
}

function isBrokenSpec({ failure, diagnosis }: Pick<DiagnosedFailure, 'failure' | 'diagnosis'>): boolean {
  const [error] = failure.errors;
  if (failure.scope !== 'suite' || diagnosis.category !== 'build-error' || !error) return false;
  return (
    /SyntaxError|Unexpected token/.test(error.message) && spec.test(error.location?.file ?? error.message)
  );
}
