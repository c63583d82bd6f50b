import type { AttemptEnd, PendingAttempt } from '../../model/attempt.js';
import { type Note, formatViolation } from '../../model/guard-findings.js';
import { describeFailure } from '../../diagnose/headline.js';
import { relativePath } from '../../paths.js';
import { unreachable } from '../../unreachable.js';
import { chooseTestsToRunWithoutFix } from '../alike.js';
import type { AppliedChange, AttemptResult, CauseWork, Fix, SharedRun } from '../cause-work.js';
import type { PreparedPatch } from '../hooks.js';
import { isGreen, judgeRerun, type Judgement } from '../judge.js';
import { proveForReview, applyForReview } from '../offers.js';
import { retest, type Retest } from '../retest.js';
import type { Schedule } from '../schedule.js';
import type { Session } from '../session.js';
import type { Deployment } from './deploy.js';
import { revertChanges } from './end-attempt.js';
import { guardAttempt } from './guard-attempt.js';
import {
  describeRevert,
  findRevert,
  hasAppChanged,
  isForPerson,
  noteOfRevert,
  type Revert,
} from './undone.js';

/** Lets the guard judge what was made for a cause, without a look at the project; an attempt that has ended is not tried. */
export async function guardFix(
  session: Session,
  { cause, known }: CauseWork,
  deployment: Deployment,
): Promise<Fix | AttemptResult> {
  const { pending, work, end, because, isDenied = false } = deployment;
  // Work that was refused or not finished stays in the copy.
  if (end) return unapplied(pending, end);
  // A person's word is the last.
  if (pending.proposedBy === 'person')
    return {
      pending,
      because,
      isDenied,
      change: work?.change ?? null,
      whole: null,
      notes: [],
    };
  const isOpen = known.decision?.allows === 'tests';
  const guarded = await guardAttempt(session, cause, { deployed: deployment, isOpen });
  const { deployed: allowed, whole, violations, notes } = guarded;
  const [worst] = violations;
  if (worst)
    return unapplied(allowed.pending, {
      kind: 'rejected',
      because: `was refused: ${formatViolation(worst)}`,
      violations,
    });
  return {
    pending: allowed.pending,
    because: allowed.because,
    isDenied,
    change: allowed.work?.change ?? null,
    whole,
    notes,
  };
}

/** Ends an attempt that was never applied: its change, if any, exists only as a patch. */
export function unapplied(pending: PendingAttempt, end: AttemptEnd): AttemptResult {
  return { attempt: { ...pending, end }, retest: null };
}

/** Judges what was made for a cause: the patch is applied to the project, a re-run judges it, and it is reverted if it did not hold. */
export async function judgeFix(schedule: Schedule, work: CauseWork, fix: Fix): Promise<AttemptResult> {
  const { pending, because, change, whole } = fix;
  // That its tests are red as they were has been shown.
  const isNothing = whole !== null && !change;
  const result = isNothing
    ? unapplied(pending, { kind: 'still-failing', because: because ?? '' })
    : await applyAndJudge(schedule, work, fix);
  return whole && needsMore(result) ? tryWhole(schedule, work, { result, whole }) : result;
}

/** Whether a fix without what was left out of it is not enough. */
function needsMore({ attempt: { end } }: AttemptResult): boolean {
  return end.kind === 'still-failing' || end.kind === 'changed' || end.kind === 'vanished';
}

/** Proves all of an agent's work, of which what was let in is not enough, for a person to decide about (HN-4). */
async function tryWhole(
  { progress: { session } }: Schedule,
  { cause }: CauseWork,
  { result, whole }: { readonly result: AttemptResult; readonly whole: PreparedPatch },
): Promise<AttemptResult> {
  const { end, ...pending } = result.attempt;
  const isAsked = whole.side !== 'tests' || session.settings.verify.intent === 'ask';
  if (!isAsked || session.signal.aborted) return result;
  if (pending.change !== null && end.kind === 'changed') await revertChanges(session, [pending.change]);
  // An author's change of the app may have made the tests needless.
  const mayTakeOut = whole.side === 'tests' && (await hasAppChanged(session, cause));
  const offered = await applyForReview(session, cause, { pending, patch: { ...whole, mayTakeOut } });
  if (offered?.end.kind === 'offered') return { attempt: offered, retest: null };
  // Another error is not progress if more of the fix did not lead further.
  return end.kind === 'changed'
    ? { ...result, attempt: { ...pending, end: { kind: 'still-failing', because: end.because } } }
    : result;
}

async function applyAndJudge(schedule: Schedule, work: CauseWork, fix: Fix): Promise<AttemptResult> {
  const { session } = schedule.progress;
  const { pending, change } = fix;
  if (!change) return judgeAlone(schedule, work, { fix, change });
  const shared = await tryTogether(schedule, work);
  if (shared) return resultOf(session, work, { fix, ...shared, judged: { kind: 'green', proof: [] } });
  const applied = await session.workspace.apply(change);
  switch (applied.kind) {
    case 'conflict':
      return unapplied(pending, {
        kind: 'conflict',
        because: `the files changed while the agent was working: ${applied.files.join(', ')}`,
      });
    case 'failed':
      return unapplied(pending, {
        kind: 'unwritable',
        because: `its change could not be written: ${applied.reason}`,
      });
    case 'applied':
      return judgeAlone(schedule, work, { fix, change: applied.change });
    default:
      return unreachable(applied);
  }
}

/**
 * Tries a fix together with those of all causes that have one ready, in one run in which each is judged by its own tests. Those that do not hold in
 * company are tried alone once the others have been judged. Returns what the run showed; null if this one is to be tried alone.
 */
async function tryTogether(schedule: Schedule, own: CauseWork): Promise<SharedRun | null> {
  const ready = [...schedule.works].filter(
    ({ fix, shared, signal }) => fix !== null && shared === null && !signal.aborted,
  );
  const isInCompany = own.shared === null && ready.includes(own) && ready.length > 1;
  if (isInCompany) await tryAll(schedule.progress.session, [own, ...ready.filter((work) => work !== own)]);
  const { shared } = own;
  [own.fix, own.shared] = [null, null];
  if (isInCompany && !shared) await schedule.letOthersGoOn();
  return shared;
}

/** Applies the fixes of these causes, runs the tests of all, and takes out those fixes that do not hold. */
async function tryAll(session: Session, works: readonly CauseWork[]): Promise<void> {
  const tried: { readonly work: CauseWork; readonly fix: Fix; readonly shared: Omit<SharedRun, 'retest'> }[] =
    [];
  for (const work of works) {
    const { fix } = work;
    work.fix = null;
    if (!fix?.change) continue;
    const applied = await session.workspace.apply(fix.change);
    if (applied.kind === 'applied') tried.push({ work, fix, shared: { change: applied.change } });
  }
  const failures = tried.flatMap(({ work }) => [...chooseTestsToRunWithoutFix(work.cause)]);
  const rerun = await retest(session, { failures, purpose: 'retest', causeId: null });
  const out: string[] = [];
  for (const { work, fix, shared } of tried)
    if (session.signal.aborted || !(await holds(session, work, { fix, ...shared, retest: rerun })))
      out.push(shared.change.id);
  const lost = out.length > 0 ? await revertChanges(session, out) : [];
  for (const { work, shared } of tried)
    if (![...out, ...lost].includes(shared.change.id)) work.shared = { ...shared, retest: rerun };
}

/** Whether a run with a fix in the project shows that it holds, and that nobody has to be asked about it. */
async function holds(
  session: Session,
  work: CauseWork,
  shared: SharedRun & Pick<AppliedFix, 'fix'>,
): Promise<boolean> {
  const { pending } = shared.fix;
  if (judgeRun(work, pending, shared.retest).kind !== 'green') return false;
  const revert = await findRevert(session, work.cause, shared.change);
  return !revert || !isForPerson(session, work, { pending, revert });
}

/** An error that an agent had already fixed on the same test came back: A, B, A is a loop, not progress (HN-9). */
function judgeRun({ cause, earlier }: CauseWork, pending: PendingAttempt, rerun: Retest): Judgement {
  const lead = rerun.observe(cause.lead);
  const judged = judgeRerun(cause.lead, lead);
  const failure = lead.failure ?? lead.suiteFailure;
  const isLoop = judged.kind === 'changed' && failure !== null && earlier.has(failure.signature);
  if (!isLoop) return ofThisChange(judged, pending);
  return {
    kind: 'still-failing',
    because: `an error that was fixed before came back: ${describeFailure(failure)}`,
  };
}

/** An agent that changed nothing has healed nothing and got the test nowhere, even if it is green now or fails differently. */
function ofThisChange(judged: Judgement, { agent, files }: PendingAttempt): Judgement {
  if (files.length > 0) return judged;
  if (judged.kind === 'changed') return { ...judged, kind: 'still-failing' };
  if (judged.kind !== 'green') return judged;
  const because =
    agent === null
      ? 'green when re-run without a change'
      : 'green although the agent changed no files: flaky, or fixed outside the project';
  return { kind: 'flaky', because };
}

/**
 * Re-runs the tests and judges what they show. Another failure than the one to heal may come of a busy machine rather than of the fix, so it
 * counts only if a second run shows it again. Every test that gets the full proof is included, so that the proof starts here.
 */
function judgeAlone(schedule: Schedule, work: CauseWork, applied: AppliedFix): Promise<AttemptResult> {
  return schedule.tryBeside(work, async (beside) => {
    const { session } = schedule.progress;
    const { cause } = work;
    const failures = [...chooseTestsToRunWithoutFix(cause), ...beside];
    let earlier: string | null = null;
    for (;;) {
      const rerun = await retest(session, { failures, purpose: 'retest', causeId: cause.id });
      const now = rerun.observe(cause.lead);
      const judged = judgeRun(work, applied.fix.pending, rerun);
      const brokeSuite = now.suiteFailure !== null && cause.lead.failure.scope === 'test';
      const other = judged.kind === 'changed' || brokeSuite ? (now.failure ?? now.suiteFailure) : null;
      if (other === null || earlier === other.signature || session.signal.aborted)
        return resultOf(session, work, { ...applied, retest: rerun, judged });
      if (earlier !== null) {
        const because = `the test fails differently in each run, at last with: ${describeFailure(other)}`;
        const unclear = { kind: 'still-failing', because } as const;
        return resultOf(session, work, { ...applied, retest: rerun, judged: unclear });
      }
      earlier = other.signature;
    }
  });
}

/** A fix as it was applied to the project. */
interface AppliedFix extends AppliedChange {
  readonly fix: Fix;
}

/** A fix that is in the project, with what its last run showed. */
interface JudgedFix extends AppliedFix {
  readonly retest: Retest;
  readonly judged: Judgement;
}

/** Ends an attempt. Only a fix that is green or that led to another error stays in the project; about some, a person is asked first. */
async function resultOf(session: Session, work: CauseWork, applied: JudgedFix): Promise<AttemptResult> {
  const { fix, change, retest: rerun, judged } = applied;
  const { pending } = fix;
  const takeOut = async () => void (change && (await revertChanges(session, [change.id])));
  if (session.signal.aborted) {
    await takeOut();
    return unapplied(pending, { kind: 'interrupted', because: 'interrupted' });
  }
  const revert = await findRevert(session, work.cause, change);
  if (judged.kind === 'green' && revert && isForPerson(session, work, { pending, revert }))
    return offer(session, work, { ...applied, revert });
  const because = [
    fix.because,
    'because' in judged ? judged.because : null,
    revert && `it ${describeRevert(revert)}`,
  ];
  const reason = because.filter((part) => part !== null).join('; ');
  if (judged.kind !== 'green' && judged.kind !== 'changed') {
    await takeOut();
    const kind = fix.isDenied && judged.kind !== 'flaky' ? 'denied' : judged.kind;
    return { attempt: { ...pending, end: { kind, because: reason } }, retest: rerun };
  }
  const notes = [
    ...(revert ? [noteOfRevert(revert)] : []),
    ...fix.notes,
    ...reasonsLeft(session, work, rerun),
  ];
  return {
    attempt: {
      ...pending,
      ...(notes.length > 0 ? { notes } : {}),
      end: judged.kind === 'green' ? judged : { kind: 'changed', because: reason },
    },
    retest: rerun,
  };
}

/** Takes out a fix that is green and that only a person can judge, with its proof. */
async function offer(
  session: Session,
  { cause }: CauseWork,
  { fix: { pending }, revert, change, retest: rerun }: JudgedFix & { readonly revert: Revert },
): Promise<AttemptResult> {
  const isGreenOnce = [...chooseTestsToRunWithoutFix(cause)].every((failure) =>
    isGreen(rerun.observe(failure)),
  );
  const attempt = await proveForReview(session, cause, {
    pending: { ...pending, notes: [noteOfRevert(revert)] },
    change: change?.id ?? '',
    side: 'app',
    summary: `its fix ${describeRevert(revert)}`,
    greens: isGreenOnce ? 1 : 0,
  });
  return { attempt, retest: null };
}

/** Names the reasons for the failures that are still there although the tests pass, for the reviewer. */
function reasonsLeft({ workspace }: Session, { cause }: CauseWork, rerun: Retest): Note[] {
  const notes = cause.members.flatMap((member) => {
    const { failure } = member;
    if (failure.scope !== 'test') return [];
    const { location } = failure.test;
    const file = relativePath(workspace.root, location.file);
    return (rerun.reasonsLeft.get(member) ?? []).map(({ source, evidence }) => {
      const says = `passes although the ${source} still says: ${evidence}`;
      return { file, line: location.line, says };
    });
  });
  return [...new Map(notes.map((note) => [note.says, note])).values()];
}
