import { spentOn } from './core/spent-on.js';
import type { Attempt } from './core/attempt.js';
import type { AvoidedReason } from './core/avoided.js';
import type { Cause, DiagnosedFailure } from './core/cause.js';
import { failureKey } from './core/failure.js';
import type { CauseVerdict, Verdict } from './core/verdict.js';
import type { HealedCause } from './heal-cause.js';
import type { SuiteRun } from './playwright/suite-run.js';
import type { CauseRecord, Progress } from './progress.js';
import { retest, type Retest } from './retest.js';
import { settleProven } from './settle-proven.js';

/** Failures by their key. */
export type ByKey = [key: string, failure: DiagnosedFailure][];

/** Failures of tests that no cause has had in hand: what a re-run shows of the others is known already. */
export function newlyRed({ board }: Progress, failures: readonly DiagnosedFailure[]): ByKey {
  const inHand = new Set(board.standings().flatMap((one) => (one.causeIds.length > 0 ? [one.test.id] : [])));
  return keyed(failures).filter(([key]) => !inHand.has(key));
}

function keyed(failures: readonly DiagnosedFailure[]): ByKey {
  return failures.map((one) => [failureKey(one.failure), one]);
}

/** Green without a change: flaky, and no agent's business (HL-7). */
export function settleFlaky(
  progress: Progress,
  flaky: readonly DiagnosedFailure[],
  run: SuiteRun | null,
): void {
  if (flaky.length === 0) return;
  const { session, board } = progress;
  const tests = flaky.flatMap((one) => (one.failure.scope === 'test' ? [one.failure.test] : []));
  if (tests.length < flaky.length) {
    progress.suiteFlakes += 1;
    if (run) board.saw(run);
  }
  for (const test of tests) board.decided(test.id, 'flaky');
  session.spending.avoided(flaky.length, 'flaky');
  session.bus.emit({ type: 'cause.flaky', tests, causeId: null });
}

/**
 * An earlier fix of this round may have healed this cause too, or a part of it: then nobody is paid for that. Gives
 * what is left of the cause, or null.
 */
export async function unhealedYet(progress: Progress, cause: Cause): Promise<Cause | null> {
  const { session, board } = progress;
  const failures = [...cause.members];
  const seen = await retest(session, { failures, purpose: 'shared-fix', causeId: cause.id });
  const red = failures.filter((member) => !isGreen(seen, member));
  for (const member of failures) {
    if (!red.includes(member)) board.decided(failureKey(member.failure), 'healed', { sharedFix: true });
  }
  const [first] = red;
  if (first) return { ...cause, members: red, lead: red.includes(cause.lead) ? cause.lead : first };
  session.spending.avoided(1, 'earlier-fix');
  const reason = 'healed by an earlier fix of this run';
  await record(progress, { cause, verdict: 'healed', reason, attempts: [], overBudget: false });
  return null;
}

function isGreen(seen: Retest, failure: DiagnosedFailure): boolean {
  const { ended, suiteFailure } = seen.observe(failure);
  return ended === 'passed' && !suiteFailure;
}

/**
 * A cause that no agent could heal may have been healed by a fix that came later: those tests are looked at once more, so
 * that the last word on them is true.
 */
export async function lookAgain(progress: Progress): Promise<void> {
  const { session, board, causes } = progress;
  const lastFix = causes.findLastIndex((one) => one.attempts.some(isKept));
  const given = causes.slice(0, Math.max(0, lastFix)).filter(canBeHealedYet);
  const failures = given.flatMap((one) => one.cause.members);
  if (failures.length === 0 || session.signal.aborted) return;
  const seen = await retest(session, { failures, purpose: 'shared-fix', causeId: null });
  for (const one of given) {
    const green = one.cause.members.filter((member) => isGreen(seen, member));
    for (const member of green) board.decided(failureKey(member.failure), 'healed', { sharedFix: true });
    if (green.length < one.cause.members.length) continue;
    const healed = {
      ...one,
      verdict: 'healed',
      reason: 'healed by a later fix of this run',
      overBudget: false,
    } as const;
    causes[causes.indexOf(one)] = healed;
    await announce(progress, healed);
  }
}

function isKept(attempt: Attempt): boolean {
  return attempt.files.length > 0 && (attempt.judged === 'green' || attempt.judged === 'changed');
}

function canBeHealedYet({ verdict, cause }: CauseRecord): boolean {
  return (verdict === 'failed' || verdict === 'escalated') && cause.lead.failure.scope === 'test';
}

/** Writes down how a cause ended; gives the failures that it leaves behind, as causes of their own. */
export async function settle(progress: Progress, ended: HealedCause): Promise<ByKey> {
  const { cause, attempts, conclusion } = ended;
  const { board } = progress;
  board.retried(cause, attempts.length);
  const untried = whyUntried(ended);
  if (untried) progress.session.spending.avoided(1, untried);
  await record(progress, {
    cause,
    verdict: causeVerdictOf(conclusion.verdict),
    reason: conclusion.reason,
    attempts,
    overBudget: conclusion.verdict === 'budget',
    interrupted: conclusion.verdict === 'interrupted',
    ...(conclusion.verdict === 'escalated'
      ? { escalationId: conclusion.escalationId, askedBefore: conclusion.askedBefore }
      : {}),
  });
  if (
    conclusion.verdict === 'healed' ||
    conclusion.verdict === 'superseded' ||
    conclusion.verdict === 'flaky'
  )
    return settleProgress(progress, ended);
  const verdict = causeVerdictOf(conclusion.verdict);
  decideMembers(progress, cause, { verdict: verdict === 'superseded' ? 'failed' : verdict });
  return [];
}

/** Why a cause ended before any agent; null where one was started, or a limit or an interrupt was in the way. */
function whyUntried({ cause, attempts, conclusion }: HealedCause): AvoidedReason | null {
  if (attempts.length > 0) return null;
  if (conclusion.verdict === 'escalated') return conclusion.askedBefore ? 'open-question' : 'person-needed';
  return conclusion.verdict === 'failed' && cause.environment !== null ? 'environment' : null;
}

/** After a fix that is kept: the lead is healed or has another error now, and the rest of the cause is looked at again. */
async function settleProgress(
  progress: Progress,
  { cause, conclusion, lastRetest, trial }: HealedCause,
): Promise<ByKey> {
  const { board } = progress;
  if (lastRetest?.run) board.saw(lastRetest.run);
  const { verdict } = conclusion;
  if (verdict === 'healed' && trial) {
    const { red, others } = settleProven(progress, cause, trial);
    return [...keyed(red), ...newlyRed(progress, [...(lastRetest?.others ?? []), ...others])];
  }
  if (verdict === 'healed' || verdict === 'flaky') board.decided(failureKey(cause.lead.failure), verdict);
  const successor = conclusion.verdict === 'superseded' ? successorOf(cause.lead, lastRetest) : null;
  const rest = await settleFollowers(progress, cause, verdict === 'flaky' ? 'flaky' : 'healed');
  return [...keyed(successor ? [successor] : []), ...newlyRed(progress, lastRetest?.others ?? []), ...rest];
}

function successorOf(lead: DiagnosedFailure, seen: Retest | null): DiagnosedFailure | null {
  return seen?.observe(lead).failure ?? seen?.suiteFailure ?? null;
}

/** The other tests of a healed cause run again without an agent; those that stay red become failures of their own (HL-6). */
async function settleFollowers(progress: Progress, cause: Cause, green: 'healed' | 'flaky'): Promise<ByKey> {
  const { session, board } = progress;
  const followers = cause.members.filter((member) => member !== cause.lead);
  if (followers.length === 0 || session.signal.aborted) return [];
  const seen = await retest(session, { failures: followers, purpose: 'shared-fix', causeId: cause.id });
  // Tests that had not run because of this cause (of a serial group, or behind a set-up) run now.
  if (seen.run) board.saw(seen.run);
  const stillRed: DiagnosedFailure[] = [];
  for (const follower of followers) {
    const now = seen.observe(follower);
    if (now.ended === 'passed') {
      session.spending.avoided(1, green === 'flaky' ? 'flaky' : 'shared-cause');
      board.decided(failureKey(follower.failure), green, { sharedFix: green === 'healed' });
    } else if (now.failure) stillRed.push(now.failure);
  }
  const suite = seen.suiteFailure ? [seen.suiteFailure] : [];
  return [...keyed(stillRed), ...newlyRed(progress, seen.others), ...keyed(suite)];
}

function decideMembers(
  { board }: Progress,
  cause: Cause,
  how: { verdict: Verdict; sharedFix?: boolean },
): void {
  const { verdict, ...rest } = how;
  for (const member of cause.members) board.decided(failureKey(member.failure), verdict, rest);
}

function causeVerdictOf(verdict: HealedCause['conclusion']['verdict']): CauseVerdict {
  return verdict === 'budget' || verdict === 'interrupted' ? 'failed' : verdict;
}

async function record(progress: Progress, ended: CauseRecord): Promise<void> {
  progress.causes.push(ended);
  await announce(progress, ended);
}

async function announce({ session }: Progress, ended: CauseRecord): Promise<void> {
  const { cause, verdict, reason, attempts } = ended;
  const { signature, diagnosis } = cause.lead;
  await session.memory.causeEnded({
    causeId: cause.id,
    signature,
    category: diagnosis.category,
    verdict,
    reason,
    bySharedFix: attempts.at(-1)?.judged !== 'green',
  });
  session.bus.emit({
    type: 'cause.ended',
    causeId: cause.id,
    verdict,
    reason,
    attempts: attempts.length,
    costUsd: spentOn(attempts).costUsd,
  });
}
