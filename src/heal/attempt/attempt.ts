import type { PendingAttempt } from '../../model/attempt.js';
import type { DiagnosedFailure } from '../../model/cause.js';
import { type Note, formatViolation } from '../../model/guard-findings.js';
import { describeFailure } from '../../diagnose/headline.js';
import { relativePath } from '../../paths.js';
import { unreachable } from '../../unreachable.js';
import type { Change } from '../../workspace/change.js';
import type { CollectedChange } from '../../workspace/workspace.js';
import { chooseTestsToRunWithoutFix } from '../alike.js';
import type { CauseWork } from '../cause-work.js';
import { fixedOutside, wasFixedOutside } from '../fixed-outside.js';
import { judgeRerun, type Judgement } from '../judge.js';
import { proveForReview, tryPatchForReview } from '../offers.js';
import { retest, type Retest } from '../retest.js';
import type { Session } from '../session.js';
import { guardAttempt } from './guard-attempt.js';
import { writePatch } from './keep-patch.js';
import {
  type AgentSlot,
  announceAgentEnd,
  type DeployRequest,
  type FinishedAgent,
  setUpAgent,
} from './start-agent.js';
import {
  endWithProvenAttempt,
  endWithoutRun,
  isGreenWithOthers,
  revertChanges,
  type Trial,
} from './trial.js';
import { hasAppChanged } from './since-green.js';
import { describeRevert, findRevert, needsPerson, createRevertNote, type Revert } from './find-revert.js';

// The steps of an attempt at a cause, in order. The caller holds the working tree for the steps that need it.

/** Prepares an agent to work on a cause in its copy. Returns a function for the rest of its work, which does not need the working tree. */
export async function prepareAgent(
  session: Session,
  trial: Trial,
  request: DeployRequest,
  slot: AgentSlot,
): Promise<() => Promise<void>> {
  const { agent } = request;
  const { slashCommand = null, runner = null } = session.settings.agents[agent] ?? {};
  trial.record = { ...trial.record, agent, slashCommand, runner };
  const ready = await setUpAgent(session, request, slot);
  // Only a person can solve what prevents a copy, such as a full disk.
  if (typeof ready === 'string') {
    const because = `Could not copy the project for the agent: ${ready}`;
    trial.end = { kind: 'unusable', because, remedy: 'Run npx self-heal doctor.' };
    return async () => undefined;
  }
  const { id, file, work } = ready;
  return async () => {
    const finished = await work();
    // The work may have been stopped after the agent ended.
    const run: FinishedAgent = slot.signal.aborted ? { ...finished, end: { kind: 'aborted' } } : finished;
    const collected = await session.workspace.collectChanges(String(id), slot.copy);
    const { change } = collected;
    warnAboutStrayEdits(session, request.cause.id, collected);
    const { files, patch } = change ? await writePatch(session, change, file) : { files: [], patch: null };
    announceAgentEnd(session, request, { ...run, filesChanged: files.length });
    trial.record = {
      ...trial.record,
      exit: run.end.kind,
      claim: run.claim,
      usage: run.usage,
      durationMs: run.durationMs,
      files,
      patch,
      prompt: relativePath(session.folder.dir, `${file}.prompt.md`),
      change: change?.id ?? null,
    };
    [trial.work, trial.change] = [collected, change];
    const { end, because, isDenied } = describeAgentEnd(slot.signal, run, collected);
    [trial.end, trial.because, trial.isDenied] = [end, because, isDenied];
  };
}

const MAX_PATHS = 5;

/**
 * Warns if an agent changed only files that git ignores, which are not part of the patch, and if files of the project itself changed meanwhile,
 * because an agent that uses absolute paths can write there.
 */
export function warnAboutStrayEdits(
  { bus }: Session,
  causeId: string,
  { ignored, change, changedInProject }: CollectedChange,
): void {
  const warn = (message: string) => bus.emit({ type: 'run.warning', message: `${causeId}: ${message}` });
  if (ignored.length > 0 && change === null)
    warn(
      `its agent changed only files that git ignores, and these cannot be part of a fix: ${formatPaths(ignored)}`,
    );
  if (changedInProject.length > 0)
    warn(
      `while its agent worked in its copy, these files in the project itself changed: ${formatPaths(changedInProject)}. If neither you nor the tests changed them, the agent did. They are not part of its fix, are not judged, and are not reverted.`,
    );
}

function formatPaths(files: readonly string[]): string {
  const more = files.length > MAX_PATHS ? ` and ${files.length - MAX_PATHS} more` : '';
  return `${files.slice(0, MAX_PATHS).join(', ')}${more}`;
}

/** Combines how the process ended with what happened to the files (AG-8). */
function describeAgentEnd(
  signal: AbortSignal,
  { end, claim, denials }: FinishedAgent,
  { change, refused }: CollectedChange,
): Pick<Trial, 'end' | 'because' | 'isDenied'> {
  const createEnd = (because: string | null, isDenied = false) => ({
    end: refused === null ? null : ({ kind: 'refused', because: refused } as const),
    because,
    isDenied,
  });
  switch (end.kind) {
    case 'completed': {
      if (change !== null) return createEnd(null);
      // An agent that says that it made no fix has answered, even if some edits were denied.
      if (denials.length > 0 && (claim === null || claim.status === 'fixed'))
        return createEnd(
          `its program denied it ${[...new Set(denials)].join(', ')}, and no files were changed`,
          refused === null,
        );
      return createEnd(`the agent ${claim ? `said "${claim.status}" and ` : ''}changed no files`);
    }
    case 'exited':
      return createEnd(
        end.reason === undefined
          ? `the agent exited with code ${end.exitCode}`
          : `the agent failed: ${end.reason}`,
      );
    case 'signalled':
      return createEnd(`the agent was killed by ${end.signal}`);
    case 'timed-out':
      return createEnd(`the agent did not finish within ${Math.round(end.afterMs / 1000)} s`);
    case 'spawn-failed':
      return createEnd(`the agent could not be started: ${end.reason}`);
    case 'limited':
      return createEnd(`the agent reached its own limit: ${end.reason}`);
    case 'aborted': {
      const because = typeof signal.reason === 'string' ? signal.reason : 'interrupted';
      return { end: { kind: 'interrupted', because }, because: null, isDenied: false };
    }
    case 'unusable': {
      const { reason: because, remedy } = end;
      return { end: { kind: 'unusable', because, remedy }, because: null, isDenied: false };
    }
    default:
      return unreachable(end);
  }
}

/** Lets the guard judge the change of an attempt, without the working tree. If the guard accepts a change, the attempt is ready to be tried. */
export async function guardTrial(session: Session, work: CauseWork, trial: Trial): Promise<void> {
  work.trial = trial;
  // A refused or unfinished change stays in the copy.
  if (trial.end) return;
  // The guard does not judge a patch that a person chose.
  if (trial.record.proposedBy !== 'person') {
    const mayChangeTests = work.memory.decision?.allows === 'tests';
    const violations = await guardAttempt(session, work.cause, { trial, mayChangeTests });
    const [worst] = violations;
    if (worst)
      return endWithoutRun(trial, {
        kind: 'rejected',
        because: `was refused: ${formatViolation(worst)}`,
        violations,
      });
  }
  trial.isReady = !work.signal.aborted && trial.change !== null;
}

/** A cause with an attempt that is ready to be tried. */
type ReadyWork = CauseWork & { readonly trial: Trial };

export function isReady(work: CauseWork): work is ReadyWork {
  return work.trial?.isReady === true && !work.signal.aborted;
}

/**
 * Applies the changes of these causes, runs the tests of all causes in one run, judges each change by its own tests, and reverts those that do not hold.
 * These are tried alone later.
 */
export async function tryTogether(session: Session, ready: readonly ReadyWork[]): Promise<void> {
  const applied: { readonly work: ReadyWork; readonly change: Change }[] = [];
  for (const work of ready) {
    const { trial } = work;
    trial.isReady = false;
    const result = trial.change && (await session.workspace.apply(trial.change));
    if (result?.kind === 'applied') applied.push({ work, change: result.change });
  }
  const failures = applied.flatMap(({ work }) => [...chooseTestsToRunWithoutFix(work.cause)]);
  const rerun = await retest(session, { failures, purpose: 'retest', causeId: null });
  const toRevert: string[] = [];
  for (const { work, change } of applied)
    if (session.signal.aborted || !(await isAccepted(session, work, { change, rerun })))
      toRevert.push(change.id);
  const lost = toRevert.length > 0 ? await revertChanges(session, toRevert) : [];
  for (const { work, change } of applied)
    if (![...toRevert, ...lost].includes(change.id)) [work.trial.change, work.trial.retest] = [change, rerun];
}

/** True if a run with a fix shows that it holds, and no person has to decide about it. */
async function isAccepted(
  session: Session,
  work: ReadyWork,
  { change, rerun }: { readonly change: Change; readonly rerun: Retest },
): Promise<boolean> {
  const { record: pending } = work.trial;
  if (judgeRun(work, pending, rerun).kind !== 'green') return false;
  const revert = await findRevert(session, work.cause, change);
  return !revert || !needsPerson(session, work, { pending, revert });
}

/** Applies the change of an attempt to the project; ends the attempt if that fails. */
export async function applyTrial(session: Session, trial: Trial): Promise<void> {
  trial.isReady = false;
  if (!trial.change) return;
  const applied = await session.workspace.apply(trial.change);
  switch (applied.kind) {
    case 'conflict':
      return endWithoutRun(trial, {
        kind: 'conflict',
        because: `the files changed while the agent was working: ${applied.files.join(', ')}`,
      });
    case 'failed':
      return endWithoutRun(trial, {
        kind: 'unwritable',
        because: `its change could not be written: ${applied.reason}`,
      });
    case 'applied':
      trial.change = applied.change;
      return;
    default:
      return unreachable(applied);
  }
}

/**
 * Re-runs the tests of a cause with its attempt in the project, together with failures of other causes, and judges the attempt. A different failure may come from
 * a busy machine, so it counts only if a second run shows it again. The run includes every test that gets the full proof, so that the proof starts here.
 */
export async function judgeAlone(
  session: Session,
  work: CauseWork,
  { trial, otherFailures }: { readonly trial: Trial; readonly otherFailures: readonly DiagnosedFailure[] },
): Promise<void> {
  const { cause } = work;
  const failures = [...chooseTestsToRunWithoutFix(cause), ...otherFailures];
  let earlier: string | null = null;
  for (;;) {
    const rerun = await retest(session, { failures, purpose: 'retest', causeId: cause.id });
    const now = rerun.observe(cause.lead);
    const first = judgeRun(work, trial.record, rerun);
    const isSuspect = first.kind === 'flaky' && trial.record.agent !== null;
    const judged = isSuspect && (await wasFixedOutside(session, cause)) ? fixedOutside : first;
    const brokeSuite = now.suiteFailure !== null && cause.lead.failure.scope === 'test';
    const other = judged.kind === 'changed' || brokeSuite ? (now.failure ?? now.suiteFailure) : null;
    if (other === null || earlier === other.signature || session.signal.aborted)
      return endJudgedAttempt(session, work, { trial, rerun, judged });
    if (earlier !== null) {
      const because = `the test fails differently in each run, most recently with: ${describeFailure(other)}`;
      return endJudgedAttempt(session, work, { trial, rerun, judged: { kind: 'still-failing', because } });
    }
    earlier = other.signature;
  }
}

/** Judges a re-run. If an error returns that was already fixed on the same test, that is a loop, not progress (HN-9). */
function judgeRun(
  { cause, earlierSignatures }: CauseWork,
  pending: PendingAttempt,
  rerun: Retest,
): Judgement {
  const lead = rerun.observe(cause.lead);
  const judged = judgeRerun(cause.lead, lead);
  const failure = lead.failure ?? lead.suiteFailure;
  const isLoop = judged.kind === 'changed' && failure !== null && earlierSignatures.has(failure.signature);
  if (!isLoop) return requireChange(judged, pending);
  return {
    kind: 'still-failing',
    because: `an error that was fixed before came back: ${describeFailure(failure)}`,
  };
}

/** Corrects the judgement of an attempt that changed nothing: such an attempt heals nothing, even if the test is now green or fails differently. */
function requireChange(judged: Judgement, { agent, files }: PendingAttempt): Judgement {
  if (files.length > 0) return judged;
  if (judged.kind === 'changed') return { ...judged, kind: 'still-failing' };
  if (judged.kind !== 'green') return judged;
  const because =
    agent === null
      ? 'green when re-run without a change'
      : 'green although the agent changed no files: flaky, or fixed outside the project';
  return { kind: 'flaky', because };
}

/** Ends a judged attempt. Only a fix that is green or that revealed another error stays in the project, and some fixes need a person's decision. */
export async function endJudgedAttempt(
  session: Session,
  work: CauseWork,
  { trial, rerun, judged }: { readonly trial: Trial; readonly rerun: Retest; readonly judged: Judgement },
): Promise<void> {
  const { change, record } = trial;
  const revertChange = async () => void (change && (await revertChanges(session, [change.id])));
  if (session.signal.aborted) {
    await revertChange();
    return endWithoutRun(trial, { kind: 'interrupted', because: 'interrupted' });
  }
  const revert = await findRevert(session, work.cause, change);
  if (judged.kind === 'green' && revert && needsPerson(session, work, { pending: record, revert }))
    return offerToPerson(session, work, { trial, revert });
  const because = [
    trial.because,
    'because' in judged ? judged.because : null,
    revert && `it ${describeRevert(revert)}`,
  ];
  const reason = because.filter((part) => part !== null).join('; ');
  trial.retest = rerun;
  if (judged.kind !== 'green' && judged.kind !== 'changed') {
    await revertChange();
    if (judged.kind === 'flaky') trial.end = { ...judged, because: reason };
    else trial.end = { kind: trial.isDenied ? 'denied' : judged.kind, because: reason };
    return;
  }
  const notes = [
    ...(revert ? [createRevertNote(revert)] : []),
    ...trial.notes,
    ...listRemainingReasons(session, work, rerun),
  ];
  if (notes.length > 0) trial.record = { ...record, notes };
  trial.end = judged.kind === 'green' ? judged : { kind: 'changed', because: reason };
}

/** Proves a green fix that needs a person's decision, and reverts it. */
async function offerToPerson(
  session: Session,
  { cause }: CauseWork,
  { trial, revert }: { readonly trial: Trial; readonly revert: Revert },
): Promise<void> {
  const { record, change } = trial;
  const attempt = await proveForReview(session, cause, {
    pending: { ...record, notes: [createRevertNote(revert)] },
    change: change?.id ?? '',
    side: 'app',
    summary: `its fix ${describeRevert(revert)}`,
  });
  endWithProvenAttempt(trial, attempt);
}

/** Lists, for the reviewer, errors behind the failures that still occur although the tests pass. */
function listRemainingReasons({ workspace }: Session, { cause }: CauseWork, rerun: Retest): Note[] {
  const notes = cause.members.flatMap((member) => {
    const { failure } = member;
    if (failure.scope !== 'test') return [];
    const { location } = failure.test;
    const file = relativePath(workspace.root, location.file);
    return (rerun.remainingReasons.get(member) ?? []).map(({ source, evidence }) => {
      const says = `passes although the ${source} still says: ${evidence}`;
      return { file, line: location.line, says };
    });
  });
  return [...new Map(notes.map((note) => [note.says, note])).values()];
}

/** If the accepted part of an agent's change is not enough, proves the whole change, for a person to decide on (HN-4). */
export async function tryWholeChange(session: Session, { cause }: CauseWork, trial: Trial): Promise<void> {
  const { whole, end, record: pending } = trial;
  const isMoreNeeded = end?.kind === 'still-failing' || end?.kind === 'changed' || end?.kind === 'vanished';
  if (!whole || !isMoreNeeded) return;
  const mayAskPerson = whole.side !== 'tests' || session.settings.verify.intent === 'ask';
  if (!mayAskPerson || session.signal.aborted) return;
  if (pending.change !== null && end.kind === 'changed') await revertChanges(session, [pending.change]);
  // The app's author may have removed the feature that the tests are for.
  const mayDeleteTests = whole.side === 'tests' && (await hasAppChanged(session, cause));
  const offered = await tryPatchForReview(session, cause, { pending, patch: { ...whole, mayDeleteTests } });
  if (offered?.end.kind === 'offered') return endWithProvenAttempt(trial, offered);
  // A different error is not progress if the whole fix leads no further.
  if (end.kind !== 'vanished')
    trial.end = offered?.end.kind === 'still-failing' ? offered.end : { ...end, kind: 'still-failing' };
}

/** Ends an attempt because the work on its cause was stopped. */
export async function stopTrial(session: Session, trial: Trial, { reason }: AbortSignal): Promise<void> {
  if (isGreenWithOthers(trial) && trial.change) await revertChanges(session, [trial.change.id]);
  const because = typeof reason === 'string' ? reason : 'interrupted';
  endWithoutRun(trial, { kind: 'interrupted', because });
}
