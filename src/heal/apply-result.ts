import type { DiagnosedFailure, Cause } from '../model/cause.js';
import { chooseTestsToRunWithoutFix } from './alike.js';
import { failureKey, formatTitles, listTests } from '../model/failure.js';
import { isGreen } from './judge.js';
import type { CauseEnd } from '../model/verdict.js';
import type { CauseWork } from './cause-work.js';
import { endCause, heldAttempt, type Progress, proofTest, revealing, verdictOf } from './progress.js';
import { retest, type Retest } from './retest.js';
import { askAboutEdits, keepEdits } from './ask.js';
import type { Session } from './session.js';
import { announceVerdicts, announceTests } from './tell-tests.js';

/** Failures with their keys. */
export type ByKey = [key: string, failure: DiagnosedFailure][];

/**
 * Returns the failures of tests that have not belonged to any cause yet; what a re-run shows of other tests is already known. What was green
 * without fixes was broken by one of them, which the regression run reverts (HN-6).
 */
export function failuresWithoutCause({ session }: Progress, failures: readonly DiagnosedFailure[]): ByKey {
  const { tests } = session.bus.run();
  const isFixed = session.workspace.listApplied().length > 0;
  return keyed(failures).filter(([key]) => {
    const known = tests.get(key);
    return !known?.causeIds.length && !(isFixed && known?.verdict === 'passed');
  });
}

function keyed(failures: readonly DiagnosedFailure[]): ByKey {
  return failures.map((failure) => [failureKey(failure.failure), failure]);
}

/**
 * Records failures that went green without a change: they are flaky, and no agent is needed (HL-7). Those of a cause with a fix that is not
 * decided yet may be green because of it, which its proof shows.
 */
export async function applyFlaky(progress: Progress, green: readonly DiagnosedFailure[]): Promise<void> {
  const { session, proofTests } = progress;
  const flaky = green.filter((failure) => !isOfOpenCause(progress, failure));
  for (const failure of green) {
    if (flaky.includes(failure)) continue;
    const key = failureKey(failure.failure);
    const at = proofTests.findIndex((test) => failureKey(test.failure.failure) === key);
    const causeId = session.bus.run().tests.get(key)?.causeIds.at(-1) ?? '';
    const test = proofTest(progress, { failure, causeId, isLead: false, isFlipped: true });
    proofTests.splice(at === -1 ? proofTests.length : at, 1, test);
  }
  const edited = flaky.filter(({ failure }) => session.testFiles.editedFor(failure).length > 0);
  if (edited.length > 0) {
    session.bus.emit({ type: 'run.warning', message: await keepEdits(session, edited) });
    announceVerdicts(session, edited, { verdict: 'escalated' });
  }
  const chance = flaky.filter((failure) => !edited.includes(failure));
  if (chance.length === 0) return;
  const tests = listTests(chance);
  if (tests.length < chance.length) progress.suiteFlakes += 1;
  session.bus.emit({ type: 'cause.flaky', tests, causeId: null });
  for (const { id, titlePath } of tests)
    await session.store.recordFlake({
      testId: id,
      name: formatTitles(titlePath),
      kind: null,
      red: 1,
      green: 1,
    });
}

/** Whether somebody edited a test of a cause before it was green. */
export function isEdited({ testFiles }: Session, { members }: Pick<Cause, 'members'>): boolean {
  return members.some(({ failure }) => testFiles.editedFor(failure).length > 0);
}

function isOfOpenCause(progress: Progress, { failure }: DiagnosedFailure): boolean {
  const id = progress.session.bus.run().tests.get(failureKey(failure))?.causeIds.at(-1);
  return id !== undefined && heldAttempt(progress, { id }) !== null;
}

/**
 * Records how a cause ended; a green fix still has to be proven.
 * Returns the failures it leaves behind, which become causes of their own.
 */
export async function applyResult(progress: Progress, work: CauseWork): Promise<ByKey> {
  const { cause, end, trial } = work;
  const { session } = progress;
  if (end === null) return [];
  const isRevealed = revealing(progress, cause).length > 0;
  if (end.verdict === 'flaky' && isRevealed && trial?.retest) {
    // Nothing more had to be changed: the fix that revealed it may have healed the test.
    const remainder = remainingFailuresOf(progress, cause);
    return remainder ? keyed(remainder.members) : [];
  }
  if (end.verdict === 'flaky' && isEdited(session, cause)) work.end = await askAboutEdits(session, work);
  const { verdict } = work.end ?? end;
  progress.tried.set(cause.id, work);
  if (verdict !== 'healed') await endCause(progress, cause, work.end ?? end);
  if (verdict === 'healed' || verdict === 'superseded' || verdict === 'flaky')
    return applyProgress(progress, work, verdict);
  announceVerdicts(session, cause.members, { verdict: verdict === 'interrupted' ? 'failed' : verdict });
  return [];
}

/** Handles a kept fix: the lead and every other test of the cause is now green or has a different error. */
async function applyProgress(
  progress: Progress,
  { cause, trial }: CauseWork,
  verdict: CauseEnd['verdict'],
): Promise<ByKey> {
  const { session, proofTests } = progress;
  const lastRetest = trial?.retest ?? null;
  if (lastRetest?.run) announceTests(session, lastRetest.run);
  if (verdict === 'flaky') announceVerdicts(session, [cause.lead], { verdict });
  if (verdict === 'healed') {
    const lead = { failure: cause.lead, causeId: cause.id, isLead: true, isFlipped: true };
    proofTests.push(proofTest(progress, lead));
  }
  const successor = verdict === 'superseded' ? successorOf(cause.lead, lastRetest) : null;
  const remaining = await applyToFollowers(progress, cause, { verdict, lastRetest });
  const failures = [...(successor ? [successor] : []), ...remaining];
  return [...keyed(failures), ...failuresWithoutCause(progress, lastRetest?.others ?? [])];
}

function successorOf(lead: DiagnosedFailure, rerun: Retest | null): DiagnosedFailure | null {
  return rerun?.observe(lead).failure ?? rerun?.suiteFailure ?? null;
}

/** Handles the other tests of the cause. Those that get the full proof were in the same re-run; tests still red become new failures (HL-6). */
async function applyToFollowers(
  progress: Progress,
  cause: Cause,
  { verdict, lastRetest }: { readonly verdict: CauseEnd['verdict']; readonly lastRetest: Retest | null },
): Promise<DiagnosedFailure[]> {
  const { session, proofTests } = progress;
  const followers = cause.members.filter((member) => member !== cause.lead);
  const chosen = chooseTestsToRunWithoutFix(cause);
  const unseen = followers.filter((member) => !chosen.has(member));
  const isHealed = verdict === 'healed';
  const rerun =
    unseen.length === 0 || isHealed || session.signal.aborted
      ? null
      : await retest(session, { failures: unseen, purpose: 'shared-fix', causeId: cause.id });
  const red: DiagnosedFailure[] = [];
  for (const failure of followers) {
    const isFlipped = chosen.has(failure);
    const now = (isFlipped ? lastRetest : rerun)?.observe(failure);
    const isNowGreen = now !== undefined && isGreen(now);
    if (isNowGreen && verdict === 'flaky') {
      announceVerdicts(session, [failure], { verdict: 'flaky' });
    } else if (isNowGreen || (isHealed && !isFlipped)) {
      const test = { failure, causeId: cause.id, isLead: false, isFlipped };
      proofTests.push(proofTest(progress, test, isNowGreen));
    } else if (now?.failure) {
      if (isHealed) {
        const test = proofTest(progress, { failure, causeId: cause.id, isLead: false, isFlipped });
        proofTests.push({ ...test, ended: 'red', isOther: true });
      }
      red.push(now.failure);
    }
  }
  return rerun?.suiteFailure ? [...red, rerun.suiteFailure] : red;
}

/**
 * Checks whether an earlier fix of this round has healed this cause too, wholly or in part, so that nobody pays for it twice. Returns
 * what is left of the cause, or null. If a run of the current tree has already shown it red, it is not run again.
 */
export async function remainingAfterOtherFixes(progress: Progress, cause: Cause): Promise<Cause | null> {
  const { session } = progress;
  const { observations } = session;
  if (observations.isRed(cause.lead)) return cause;
  const failures = cause.members.filter((member) => !observations.isGreen(member));
  if (failures.length > 0) await retest(session, { failures, purpose: 'shared-fix', causeId: cause.id });
  return remainingFailuresOf(progress, cause);
}

/** Records which tests of a cause are green with fixes of other causes; returns what is left of the cause, or null. */
function remainingFailuresOf(progress: Progress, cause: Cause): Cause | null {
  const { observations } = progress.session;
  const red = cause.members.filter((member) => !observations.isGreen(member));
  for (const member of cause.members) if (!red.includes(member)) takeGreen(progress, cause, member);
  const [first] = red;
  if (red.length === cause.members.length) return cause;
  if (first) return { ...cause, members: red, lead: red.includes(cause.lead) ? cause.lead : first };
  progress.greenWithOthers.set(cause.id, 'healed by an earlier fix of this run');
  return null;
}

/** Records a test that is green with another test's fix; it is proven like any other (HN-5). */
function takeGreen(progress: Progress, cause: Cause, failure: DiagnosedFailure): void {
  const isFlipped = chooseTestsToRunWithoutFix(cause).has(failure);
  progress.proofTests.push(proofTest(progress, { failure, causeId: cause.id, isLead: false, isFlipped }));
}

/**
 * Re-runs the tests of causes that no agent could heal unless they were last red with the fixes that are now in the tree, since one of
 * those may have healed them: their final status has to be true of the final code.
 */
export async function recheckFailed(progress: Progress): Promise<void> {
  const { session } = progress;
  if (session.workspace.listApplied().length === 0) return;
  const given = [...progress.causes.values()].filter((cause) => canBeHealedYet(progress, cause));
  const failures = given
    .flatMap(({ members }) => members)
    .filter((failure) => !session.observations.isRed(failure));
  if (failures.length === 0 || session.signal.aborted) return;
  const rerun = await retest(session, { failures, purpose: 'shared-fix', causeId: null });
  for (const cause of given) {
    const green = cause.members.filter(
      (member) => failures.includes(member) && isGreen(rerun.observe(member)),
    );
    for (const member of green) takeGreen(progress, cause, member);
    if (green.length === cause.members.length)
      progress.greenWithOthers.set(cause.id, 'healed by a later fix of this run');
  }
}

function canBeHealedYet(progress: Progress, cause: Cause): boolean {
  const verdict = verdictOf(progress, cause) ?? '';
  return ['failed', 'rejected', 'escalated'].includes(verdict) && cause.lead.failure.scope === 'test';
}
