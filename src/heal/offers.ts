import path from 'node:path';
import type { Side } from '../model/choice.js';
import type { Attempt, PendingAttempt } from '../model/attempt.js';
import { canBeReverted } from '../model/blame.js';
import type { Cause } from '../model/cause.js';
import { chooseTestsToRunWithoutFix } from './alike.js';
import { isGreen, type Observation } from './judge.js';
import type { Proof, ProofStep } from '../model/proof.js';
import { workFromEdits } from './attempt/keep-patch.js';
import { revertChanges } from './attempt/trial.js';
import { openContents, readChange } from '../workspace/change.js';
import { withChange } from '../workspace/with-change.js';
import { retest } from './retest.js';
import type { PreparedPatch } from './hooks.js';
import { readStateText } from '../state-folder.js';
import type { Session } from './session.js';

/**
 * Ends an attempt whose change is in the project, and of which only a person can say whether it is right: its tests are run until they have
 * been green as often as a heal has to be, of which `greens` runs have been made, and it is taken out.
 */
export async function proveForReview(
  session: Session,
  cause: Cause,
  offer: Pick<PreparedPatch, 'side' | 'summary' | 'mayTakeOut'> & {
    readonly pending: PendingAttempt;
    readonly change: string;
    readonly greens: number;
  },
): Promise<Attempt> {
  const { pending, change, side, summary } = offer;
  const proof = await shownGreen(session, cause, offer);
  const testsNothing =
    proof !== null && side === 'tests' && !offer.mayTakeOut && (await isGreenBefore(session, cause));
  await revertChanges(session, [change]);
  if (session.signal.aborted) return { ...pending, end: { kind: 'interrupted', because: 'interrupted' } };
  if (proof !== null && !testsNothing)
    return {
      ...pending,
      end: { kind: 'offered', because: `${summary}: ${questionAbout(session, side, pending)}`, side, proof },
    };
  const why = testsNothing
    ? 'with it, its test is green with the old behavior, too, so it would test nothing'
    : 'not all of its tests are green with it';
  return { ...pending, end: { kind: 'still-failing', because: `${summary}; ${why}` } };
}

/** Whether a test is green, as it is now, in the last green state of the app: without the change that broke it. False if nothing shows that. */
async function isGreenBefore(session: Session, cause: Cause): Promise<boolean> {
  const { folder, workspace, bus } = session;
  const { blame, lead } = cause;
  const broke = canBeReverted(blame) ? readChange(folder.dir, blame.change) : null;
  if (broke === null || session.signal.aborted) return false;
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  const before = await withChange({ workspace, contents: openContents(folder.dir), warn }, broke, () =>
    retest(session, { failures: [lead], purpose: 'proof', causeId: cause.id }),
  );
  return before !== null && isGreen(before.value.observe(lead));
}

const askedOf: Record<Side, string> = {
  tests: 'is the new behavior right?',
  app: 'are the tests right, or is the change?',
  whole: 'may that be changed?',
};

function questionAbout({ folder }: Session, side: Side, { patch }: PendingAttempt): string {
  const text = side === 'tests' && patch !== null ? readStateText(path.join(folder.dir, patch)) : '';
  return text !== '' && !changesExpectation(text) ? 'may the tests be changed so?' : askedOf[side];
}

/** Whether a patch changes what a test expects, rather than its set-up, a mock or a wait. */
export function changesExpectation(patch: string): boolean {
  return /^[+-](?![+-]).*(?:\bexpect\b|\.(?:not\.)?to[A-Z]\w*\()/m.test(patch);
}

async function shownGreen(
  session: Session,
  cause: Cause,
  { greens, mayTakeOut = false }: { readonly greens: number; readonly mayTakeOut?: boolean },
): Promise<Proof | null> {
  const { repeat, confirm } = session.settings.verify;
  let failures = [...cause.members];
  // The run that judged the attempt had only those three.
  const greenRuns =
    failures.length > chooseTestsToRunWithoutFix(cause).size ? Math.min(greens, repeat - 1) : greens;
  for (let n = greenRuns; n < repeat && failures.length > 0; n += 1) {
    const rerun = await retest(session, { failures, purpose: 'proof', causeId: cause.id });
    if (mayTakeOut) failures = failures.filter((failure) => !isGone(rerun.observe(failure)));
    if (session.signal.aborted || !failures.every((failure) => isGreen(rerun.observe(failure)))) return null;
  }
  // Where all of its tests are gone with it, none was green.
  const times = failures.length > 0 ? repeat : 0;
  return [...Array<ProofStep>(1 + confirm).fill('red'), ...Array<ProofStep>(times).fill('green')];
}

const isGone = ({ ended }: Observation) => ended === 'absent' || ended === 'skipped';

/** Puts a patch into the project, proves it, and takes it out again. Returns null if it could not be applied. */
export async function applyForReview(
  session: Session,
  cause: Cause,
  { pending, patch }: { readonly pending: PendingAttempt; readonly patch: PreparedPatch },
): Promise<Attempt | null> {
  const { side, summary, edits, notes, mayTakeOut = false } = patch;
  const made = await workFromEdits(session, edits);
  const applied = typeof made === 'string' ? null : await session.workspace.apply(made.work.change);
  if (typeof made === 'string' || applied?.kind !== 'applied') return null;
  const ready = { ...pending, ...made.kept };
  return proveForReview(session, cause, {
    pending: notes ? { ...ready, notes } : ready,
    change: applied.change.id,
    side,
    summary,
    greens: 0,
    mayTakeOut,
  });
}
