import type { DiagnosedFailure, Cause } from '../model/cause.js';
import { chooseTestsToRunWithoutFix } from './alike.js';
import { failureKey, formatTitles, listTests } from '../model/failure.js';
import { isGreen } from './judge.js';
import type { CauseEnd } from '../model/verdict.js';
import type { CauseWork } from './cause-work.js';
import {
  endCause,
  findHeldAttempt,
  type Progress,
  createProofTest,
  listRevealingCauses,
  getCurrentVerdict,
} from './progress.js';
import { retest, type Retest } from './retest.js';
import { askAboutEdits, storeEdits } from './ask.js';
import { isEdited } from './test-files.js';
import { announceVerdicts, announceTests } from './announce-tests.js';

/** Failures with their keys. */
export type KeyedFailures = [key: string, failure: DiagnosedFailure][];

/**
 * Returns the failures of tests that belong to no cause yet. Leaves out tests that were green without the fixes in the tree: a fix broke them, and
 * the regression run finds and reverts it (HN-6).
 */
export function listFailuresWithoutCause(
  { session }: Progress,
  failures: readonly DiagnosedFailure[],
): KeyedFailures {
  const { tests } = session.bus.getRun();
  const isFixed = session.workspace.listApplied().length > 0;
  return addKeys(failures).filter(([key]) => {
    const test = tests.get(key);
    return !test?.causeIds.length && !(isFixed && test?.verdict === 'passed');
  });
}

function addKeys(failures: readonly DiagnosedFailure[]): KeyedFailures {
  return failures.map((failure) => [failureKey(failure.failure), failure]);
}

/**
 * Records failures that turned green without a change as flaky, which need no agent (HL-7). If the test belongs to a cause whose fix is not proven yet,
 * the fix may be the reason, so the test joins its proof instead.
 */
export async function recordFlakes(progress: Progress, green: readonly DiagnosedFailure[]): Promise<void> {
  const { session, proofTests } = progress;
  const flaky = green.filter((failure) => !belongsToOpenCause(progress, failure));
  for (const failure of green) {
    if (flaky.includes(failure)) continue;
    const key = failureKey(failure.failure);
    const index = proofTests.findIndex((test) => failureKey(test.failure.failure) === key);
    const causeId = session.bus.getRun().tests.get(key)?.causeIds.at(-1) ?? '';
    const test = createProofTest(progress, { failure, causeId, isLead: false, runsBothWays: true });
    proofTests.splice(index === -1 ? proofTests.length : index, 1, test);
  }
  const edited = flaky.filter(({ failure }) => session.testFiles.listEditsToTest(failure).length > 0);
  if (edited.length > 0) {
    session.bus.emit({ type: 'run.warning', message: await storeEdits(session, edited) });
    announceVerdicts(session, edited, { verdict: 'escalated' });
  }
  const unedited = flaky.filter((failure) => !edited.includes(failure));
  if (unedited.length === 0) return;
  const tests = listTests(unedited);
  if (tests.length < unedited.length) progress.suiteFlakes += 1;
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

function belongsToOpenCause(progress: Progress, { failure }: DiagnosedFailure): boolean {
  const id = progress.session.bus.getRun().tests.get(failureKey(failure))?.causeIds.at(-1);
  return id !== undefined && findHeldAttempt(progress, { id }) !== null;
}

/** Records how a cause ended; a green fix must still be proven. Returns the failures that are still red, which become new causes. */
export async function applyResult(progress: Progress, work: CauseWork): Promise<KeyedFailures> {
  const { cause, end, trial } = work;
  const { session } = progress;
  if (end === null) return [];
  const isRevealed = listRevealingCauses(progress, cause).length > 0;
  if (end.verdict === 'flaky' && isRevealed && trial?.retest) {
    // The test is green without another change, so the fix that revealed this error may have healed it.
    const remainder = recordGreenWithOthers(progress, cause);
    return remainder ? addKeys(remainder.members) : [];
  }
  if (end.verdict === 'flaky' && isEdited(session, cause)) work.end = await askAboutEdits(session, work);
  const { verdict } = work.end ?? end;
  progress.finishedWork.set(cause.id, work);
  if (verdict !== 'healed') await endCause(progress, cause, work.end ?? end);
  if (verdict === 'healed' || verdict === 'superseded' || verdict === 'flaky')
    return applyHoldingFix(progress, work, verdict);
  announceVerdicts(session, cause.members, { verdict: verdict === 'interrupted' ? 'failed' : verdict });
  return [];
}

/** Handles a fix that holds: the lead and every other test of the cause is now green or has a different error. */
async function applyHoldingFix(
  progress: Progress,
  { cause, trial }: CauseWork,
  verdict: CauseEnd['verdict'],
): Promise<KeyedFailures> {
  const { session, proofTests } = progress;
  const lastRetest = trial?.retest ?? null;
  if (lastRetest?.run) announceTests(session, lastRetest.run);
  if (verdict === 'flaky') announceVerdicts(session, [cause.lead], { verdict });
  if (verdict === 'healed') {
    const lead = { failure: cause.lead, causeId: cause.id, isLead: true, runsBothWays: true };
    proofTests.push(createProofTest(progress, lead));
  }
  const successor = verdict === 'superseded' ? findNextFailure(cause.lead, lastRetest) : null;
  const remaining = await applyToFollowers(progress, cause, { verdict, lastRetest });
  const failures = [...(successor ? [successor] : []), ...remaining];
  return [...addKeys(failures), ...listFailuresWithoutCause(progress, lastRetest?.others ?? [])];
}

function findNextFailure(lead: DiagnosedFailure, rerun: Retest | null): DiagnosedFailure | null {
  return rerun?.observe(lead).failure ?? rerun?.suiteFailure ?? null;
}

/** Handles the cause's other tests. Those chosen for the full proof were re-run with the lead; tests that are still red become new failures (HL-6). */
async function applyToFollowers(
  progress: Progress,
  cause: Cause,
  { verdict, lastRetest }: { readonly verdict: CauseEnd['verdict']; readonly lastRetest: Retest | null },
): Promise<DiagnosedFailure[]> {
  const { session, proofTests } = progress;
  const followers = cause.members.filter((member) => member !== cause.lead);
  const chosen = chooseTestsToRunWithoutFix(cause);
  const testsNotRerun = followers.filter((member) => !chosen.has(member));
  const isHealed = verdict === 'healed';
  const rerun =
    testsNotRerun.length === 0 || isHealed || session.signal.aborted
      ? null
      : await retest(session, { failures: testsNotRerun, purpose: 'shared-fix', causeId: cause.id });
  const red: DiagnosedFailure[] = [];
  for (const failure of followers) {
    const runsBothWays = chosen.has(failure);
    const now = (runsBothWays ? lastRetest : rerun)?.observe(failure);
    const isNowGreen = now !== undefined && isGreen(now);
    if (isNowGreen && verdict === 'flaky') {
      announceVerdicts(session, [failure], { verdict: 'flaky' });
    } else if (isNowGreen || (isHealed && !runsBothWays)) {
      const test = { failure, causeId: cause.id, isLead: false, runsBothWays };
      proofTests.push(createProofTest(progress, test, isNowGreen));
    } else if (now?.failure) {
      if (isHealed) {
        const test = createProofTest(progress, { failure, causeId: cause.id, isLead: false, runsBothWays });
        proofTests.push({ ...test, ended: 'red', hasOwnCause: true });
      }
      red.push(now.failure);
    }
  }
  return rerun?.suiteFailure ? [...red, rerun.suiteFailure] : red;
}

/**
 * Checks whether an earlier fix of this round has also healed this cause, or some of its tests, before an agent starts. Returns the cause with its
 * red tests, or null if all are green. Does not run a test that is already known to be red in the current tree.
 */
export async function dropTestsHealedByOthers(progress: Progress, cause: Cause): Promise<Cause | null> {
  const { session } = progress;
  const { observations } = session;
  if (observations.isRed(cause.lead)) return cause;
  const failures = cause.members.filter((member) => !observations.isGreen(member));
  if (failures.length > 0) await retest(session, { failures, purpose: 'shared-fix', causeId: cause.id });
  return recordGreenWithOthers(progress, cause);
}

/** Records which tests of a cause are green with other causes' fixes; returns the cause with its red tests, or null if all are green. */
function recordGreenWithOthers(progress: Progress, cause: Cause): Cause | null {
  const { observations } = progress.session;
  const red = cause.members.filter((member) => !observations.isGreen(member));
  for (const member of cause.members) if (!red.includes(member)) addToProof(progress, cause, member);
  const [firstRed] = red;
  if (red.length === cause.members.length) return cause;
  if (firstRed) return { ...cause, members: red, lead: red.includes(cause.lead) ? cause.lead : firstRed };
  progress.greenWithOthers.set(cause.id, 'healed by an earlier fix in this run');
  return null;
}

/** Adds a test that is green with another cause's fix to the proof (HN-5). */
function addToProof(progress: Progress, cause: Cause, failure: DiagnosedFailure): void {
  const runsBothWays = chooseTestsToRunWithoutFix(cause).has(failure);
  progress.proofTests.push(
    createProofTest(progress, { failure, causeId: cause.id, isLead: false, runsBothWays }),
  );
}

/**
 * Re-runs the tests of causes that no agent could heal, because a fix that came into the tree later may have healed them. Skips tests that were last
 * red in the current tree.
 */
export async function recheckFailedCauses(progress: Progress): Promise<void> {
  const { session } = progress;
  if (session.workspace.listApplied().length === 0) return;
  const unhealed = [...progress.causes.values()].filter((cause) => mayHaveBeenHealed(progress, cause));
  const failures = unhealed
    .flatMap(({ members }) => members)
    .filter((failure) => !session.observations.isRed(failure));
  if (failures.length === 0 || session.signal.aborted) return;
  const rerun = await retest(session, { failures, purpose: 'shared-fix', causeId: null });
  for (const cause of unhealed) {
    const green = cause.members.filter(
      (member) => failures.includes(member) && isGreen(rerun.observe(member)),
    );
    for (const member of green) addToProof(progress, cause, member);
    if (green.length === cause.members.length)
      progress.greenWithOthers.set(cause.id, 'healed by a later fix in this run');
  }
}

function mayHaveBeenHealed(progress: Progress, cause: Cause): boolean {
  const verdict = getCurrentVerdict(progress, cause) ?? '';
  return ['failed', 'rejected', 'escalated'].includes(verdict) && cause.lead.failure.scope === 'test';
}
