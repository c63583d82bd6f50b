import path from 'node:path';
import type { Side } from '../model/choice.js';
import type { Attempt, PendingAttempt } from '../model/attempt.js';
import type { Cause } from '../model/cause.js';
import { isGreen, type Observation } from './judge.js';
import { failureKey } from '../model/failure.js';
import type { Proof } from '../model/proof.js';
import { followPlan } from './follow-plan.js';
import { createTestInProof, createSingleFix } from './proof-question.js';
import { createChangeFromEdits } from './attempt/keep-patch.js';
import { haveTestsChanged, createAppRevert } from './attempt/since-green.js';
import { revertChanges } from './attempt/trial.js';
import { openContentStore } from '../workspace/change.js';
import { withChange } from '../workspace/with-change.js';
import { retest } from './retest.js';
import type { PreparedPatch } from './hooks.js';
import { readStateText } from '../state-folder.js';
import type { Session } from './session.js';

/**
 * Ends an attempt that needs a person's decision and whose change is in the project: runs the tests until they have been green as often as a heal
 * requires, and reverts the change.
 */
export async function proveForReview(
  session: Session,
  cause: Cause,
  offer: Pick<PreparedPatch, 'side' | 'summary' | 'mayDeleteTests'> & {
    readonly pending: PendingAttempt;
    readonly change: string;
  },
): Promise<Attempt> {
  const { pending, change, side, summary } = offer;
  const proof = await proveGreen(session, cause, offer);
  const wouldTestNothing =
    proof !== null &&
    side === 'tests' &&
    // Without a new expectation, a patch for a changed app may rightly suit the old one, too.
    (!offer.mayDeleteTests || addsExpectation(readPatch(session, pending))) &&
    (await isGreenOnOldApp(session, cause, change));
  await revertChanges(session, [change]);
  if (session.signal.aborted) return { ...pending, end: { kind: 'interrupted', because: 'interrupted' } };
  if (proof !== null && !wouldTestNothing)
    return {
      ...pending,
      end: { kind: 'offered', because: `${summary}: ${chooseQuestion(session, side, pending)}`, side, proof },
    };
  const why = wouldTestNothing
    ? 'with this change, the test is green with the old behavior, too, so it would test nothing'
    : 'not all of its tests are green with it';
  return { ...pending, end: { kind: 'still-failing', because: `${summary}; ${why}` } };
}

/** True if the changed test is also green with the last green state of the app, so that its new expectation does not test the new behavior. */
async function isGreenOnOldApp(session: Session, cause: Cause, patch: string): Promise<boolean> {
  const { folder, workspace, bus, spending } = session;
  const { lead } = cause;
  const edits = session.signal.aborted ? null : await createAppRevert(session, cause);
  // If their author has changed the tests, too, the old app says nothing about them.
  if (edits === null || (await haveTestsChanged(session, cause, patch))) return false;
  const { change: revert } = workspace.createCollectedChange(String(spending.nextAttemptNumber()), edits);
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  const before = await withChange({ workspace, contents: openContentStore(folder.dir), warn }, revert, () =>
    retest(session, { failures: [lead], purpose: 'proof', causeId: cause.id }),
  );
  return before !== null && isGreen(before.value.observe(lead));
}

const questions: Record<Side, string> = {
  tests: 'is the new behavior right?',
  app: 'are the tests right, or is the change?',
  whole: 'may that be changed?',
};

function readPatch({ folder }: Session, { patch }: PendingAttempt): string {
  return patch === null ? '' : readStateText(path.join(folder.dir, patch));
}

function chooseQuestion(session: Session, side: Side, pending: PendingAttempt): string {
  const text = side === 'tests' ? readPatch(session, pending) : '';
  return text !== '' && !changesExpectation(text) ? 'may the tests be changed like this?' : questions[side];
}

/** True if a patch changes an expectation of a test, not only its setup, an action, a mock, a wait or a locator. */
export function changesExpectation(patch: string): boolean {
  return addsExpectation(patch) || !listExpectations(patch, '-').every(isIn(listExpectations(patch, '+')));
}

/** True if a patch adds an expectation that it does not remove elsewhere. */
export function addsExpectation(patch: string): boolean {
  return !listExpectations(patch, '+').every(isIn(listExpectations(patch, '-')));
}

const isIn = (list: readonly string[]) => (item: string) => list.includes(item);

/** Lists the expectations on the added or removed lines of a patch, each from its matcher on. */
function listExpectations(patch: string, sign: '+' | '-'): string[] {
  return patch
    .split('\n')
    .filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3)))
    .flatMap((line) => line.match(/\.(?:not\.)?to[A-Z]\w*\(.*/) ?? line.match(/\bexpect\b.*/) ?? []);
}

/** Runs the tests of a cause until each has been green often enough with a change; returns the results of the first, or null if one was red. */
async function proveGreen(
  session: Session,
  cause: Cause,
  { change, mayDeleteTests = false }: { readonly change: string; readonly mayDeleteTests?: boolean },
): Promise<Proof | null> {
  const { observations, settings, workspace, signal } = session;
  const fixes = workspace.listApplied().map(createSingleFix);
  let failures = cause.members;
  const createQuestion = () => ({
    fixes,
    tests: failures.map(({ failure }) => {
      const key = failureKey(failure);
      const results = observations.listResults(key);
      // Results from before the change do not count: a test that fails only together with others may have run alone then, and been green.
      const since = results.find(({ changes }) => changes.includes(change))?.run ?? 0;
      return createTestInProof({ key, fix: change, results, since, isSuite: failure.scope === 'suite' });
    }),
    greens: settings.verify.repeat,
    reds: 0,
    needsCleanCopy: false,
    haveDifferentCauses: () => true,
    otherTests: null,
  });
  const last = await followPlan(createQuestion, signal, async (step) => {
    if (step.kind !== 'run' || step.part !== 'shared') return false;
    const keys = new Set(step.tests.map(({ key }) => key));
    const failuresToRun = failures.filter(({ failure }) => keys.has(failureKey(failure)));
    const request = { failures: failuresToRun, purpose: 'proof', causeId: cause.id } as const;
    const rerun = await retest(session, { ...request, proof: { part: 'shared', without: [] } });
    if (mayDeleteTests) failures = failures.filter((failure) => !isGone(rerun.observe(failure)));
    return true;
  });
  if (last?.kind !== 'settled') return null;
  const { before, after } = observations.listStepsWith(failures[0] ?? cause.lead, change);
  // If the change deletes all tests, none was green.
  return failures.length > 0 ? [...before, ...after] : before;
}

const isGone = ({ ended }: Observation) => ended === 'absent' || ended === 'skipped';

/** Applies a patch to the project, proves it, and reverts it, so that a person can decide. Returns null if it cannot be applied. */
export async function tryPatchForReview(
  session: Session,
  cause: Cause,
  { pending, patch }: { readonly pending: PendingAttempt; readonly patch: PreparedPatch },
): Promise<Attempt | null> {
  const { side, summary, edits, notes, mayDeleteTests = false } = patch;
  const prepared = await createChangeFromEdits(session, edits);
  const applied = typeof prepared === 'string' ? null : await session.workspace.apply(prepared.work.change);
  if (typeof prepared === 'string' || applied?.kind !== 'applied') return null;
  const ready = { ...pending, ...prepared.kept };
  return proveForReview(session, cause, {
    pending: notes ? { ...ready, notes } : ready,
    change: applied.change.id,
    side,
    summary,
    mayDeleteTests,
  });
}
