import path from 'node:path';
import type { Attempt, AttemptEnd, Unjudged } from '../../model/attempt.js';
import type { Cause, DiagnosedFailure } from '../../model/cause.js';
import { chooseFlipped } from '../alike.js';
import { violationLine, type Note } from '../../model/guard-findings.js';
import { headlineOf } from '../../diagnose/headline.js';
import { isGreen, judge, type Judged, type Observation } from '../judge.js';
import { changesFor } from '../../agents/changes.js';
import { lastGreenCommits } from '../../run/last-green.js';
import { type EditedFile, notRestored, type Undoing, undoing, undoingOf } from './undoing.js';
import { type BlamedHunk, canBeReverted } from '../../model/blame.js';
import { isOwnAssertion } from '../own-assertion.js';
import { git } from '../../workspace/git.js';
import type { Deployment } from './deploy.js';
import { harmless, type ToChallenge } from '../../guard/findings.js';
import { guardAttempt } from './guard-attempt.js';
import { endOffered, tryOffer } from '../offers.js';
import type { PreparedPatch } from '../proposed-fix.js';
import { retest, type Retest } from '../retest.js';
import type { Session } from '../session.js';
import { revertChanges } from './end-attempt.js';
import type { ProposedFix } from '../proposed-fix.js';
import type { KnownFailure } from '../../store/store.js';
import { type Change, contentsOf } from '../../workspace/change.js';
import { relativePath } from '../../paths.js';
import type { FileState } from '../../workspace/file-state.js';

/** What to try. */
export interface Try {
  /** Null re-runs the test with the code unchanged (HL-5). */
  readonly agent: string | null;
  /** An existing fix to use in place of an agent's work. */
  readonly proposal?: ProposedFix;
  readonly n: number;
  readonly previous: readonly Attempt[];
  /** The attempts that led to the cause's error, whose changes are in the tree. */
  readonly chain: readonly Attempt[];
  /** Signatures that the same tests had earlier in this run. */
  readonly earlier: ReadonlySet<string>;
  /** What earlier runs know about the failure. */
  readonly known: KnownFailure;
}

/** A judged attempt with its last re-run; `retest` is null if nothing was run, or if its result no longer applies. */
export interface TriedFix {
  readonly attempt: Attempt;
  readonly retest: Retest | null;
  /** What its proof has to look at; absent if there is nothing. */
  readonly toChallenge?: ToChallenge;
}

/** A fix that may be tried in the project. */
export interface ReadyFix {
  readonly deployed: Deployment;
  /** All of an agent's work, if something was left out of it that a person may let in; null otherwise. */
  readonly whole: PreparedPatch | null;
  /** The guard's findings other than violations. */
  readonly findings: ToChallenge & { readonly notes: readonly Note[] };
}

/** Lets the guard judge what was made for a cause, without a look at the project; an attempt that has ended is not tried. */
export async function guardFix(
  session: Session,
  cause: Cause,
  { deployed, work }: { readonly deployed: Deployment; readonly work: Try },
): Promise<ReadyFix | TriedFix> {
  // Work that was refused or not finished stays in the copy.
  if (deployed.end) return unapplied(deployed.made, deployed.end);
  // A person's word is the last.
  const isOpen = work.known.decision?.allows === 'tests';
  const {
    deployed: left,
    whole,
    violations,
    ...findings
  } = work.proposal?.proposedBy === 'person'
    ? { ...harmless, deployed, notes: [], whole: null }
    : await guardAttempt(session, cause, { deployed, isOpen });
  const [worst] = violations;
  if (!worst) return { deployed: left, whole, findings };
  const because = `was refused: ${violationLine(worst)}`;
  return unapplied(left.made, { kind: 'rejected', because, violations });
}

/** A change that is ready to be tried, perhaps together with those of other causes. */
export interface Patch {
  readonly change: Change;
  /** The failures whose tests judge it. */
  readonly failures: readonly DiagnosedFailure[];
  /** Returns what changed since the test was green, where nobody has searched for what broke it: while the change is not in the project. */
  readonly changed: () => Promise<BlamedHunk[]>;
  /** Whether a run with it in the project shows that it holds, and that nobody has to be asked about it. */
  readonly holds: (shown: Shared) => Promise<boolean>;
}

/** A run that several changes were tried in, and one of them as it was applied. */
export interface Shared {
  readonly change: Change;
  readonly changed: readonly BlamedHunk[];
  readonly seen: Retest;
}

/** Returns the change of a fix; null if there is none. */
export function patchOf(
  session: Session,
  cause: Cause,
  { ready, work }: { readonly ready: ReadyFix; readonly work: Try },
): Patch | null {
  const { made, work: done } = ready.deployed;
  if (!done?.change) return null;
  return {
    change: done.change,
    failures: [...chooseFlipped(cause)],
    changed: () => changedLately(session, cause, ready.findings.suspicions.length > 0),
    holds: async ({ seen, change, changed }) => {
      const now = seen.observe(cause.lead);
      if (ofThisChange(withoutLoop(judge(cause.lead, now), now, work.earlier), made).kind !== 'green')
        return false;
      const { undone } = await undoneBy(session, cause, { change, changed });
      return !(undone && isAsked(session, cause, { work, undone }));
    },
  };
}

/** What is to be judged. */
export interface Judging {
  readonly work: Try;
  /** The failures of other causes that its re-runs include. */
  readonly beside: () => readonly DiagnosedFailure[];
  /** Tries its change together with those of others, in one run; null if it is to be tried alone. */
  readonly together: () => Promise<Shared | null>;
}

/** Judges what was made for a cause: the patch is applied to the project, a re-run judges it, and it is reverted if it did not hold. */
export async function judgeFix(
  session: Session,
  cause: Cause,
  { ready: { deployed, whole, findings }, ...rest }: Judging & { readonly ready: ReadyFix },
): Promise<TriedFix> {
  // That its tests are red as they were has been shown.
  const isNothing = whole !== null && !deployed.work?.change;
  const tried = isNothing
    ? unapplied(deployed.made, { kind: 'still-failing', because: deployed.because ?? '' })
    : await applyAndJudge(session, cause, { deployed, findings, ...rest });
  return whole && needsMore(tried) ? withWhole(session, cause, { tried, whole }) : tried;
}

/** Whether a fix without what was left out of it is not enough. */
function needsMore({ attempt: { end } }: TriedFix): boolean {
  return end.kind === 'still-failing' || end.kind === 'changed' || end.kind === 'vanished';
}

/** Proves all of an agent's work, of which what was left is not enough, for a person to decide about (HN-4). */
async function withWhole(
  session: Session,
  cause: Cause,
  { tried, whole }: { readonly tried: TriedFix; readonly whole: PreparedPatch },
): Promise<TriedFix> {
  const { end, ...made } = tried.attempt;
  const isAsked = whole.side !== 'tests' || session.settings.verify.intent === 'ask';
  if (!isAsked || session.signal.aborted) return tried;
  if (made.change !== null && end.kind === 'changed') await revertChanges(session, [made.change]);
  const mayTakeOut = whole.side === 'tests' && (await isByAuthor(session, cause));
  const offered = await tryOffer(session, cause, { made, patch: { ...whole, mayTakeOut } });
  if (offered?.end.kind === 'offered') return { attempt: offered, retest: null };
  // Another error is not progress if more of the fix did not lead further.
  return end.kind === 'changed'
    ? { ...tried, attempt: { ...made, end: { kind: 'still-failing', because: end.because } } }
    : tried;
}

/** Whether an author's change of the app is to blame, as far as is known. */
async function isByAuthor(session: Session, cause: Cause): Promise<boolean> {
  if (cause.blame) return canBeReverted(cause.blame);
  return (await changedLately(session, cause, true)).length > 0;
}

async function applyAndJudge(
  session: Session,
  cause: Cause,
  { deployed, together, ...rest }: Pick<AppliedAttempt, 'findings' | 'deployed'> & Judging,
): Promise<TriedFix> {
  const { made, work } = deployed;
  const shared = work?.change ? await together() : null;
  if (shared) return judgeApplied(session, cause, { deployed, ...shared, ...rest });
  // Afterwards, what a fix takes back is no change any more.
  const isSuspected = rest.findings.suspicions.length > 0;
  const changed = work?.change ? await changedLately(session, cause, isSuspected) : [];
  const applied = work?.change ? await session.workspace.apply(work.change) : null;
  if (applied?.kind === 'conflict') {
    const because = `the files changed while the agent was working: ${applied.files.join(', ')}`;
    return unapplied(made, { kind: 'conflict', because });
  }
  if (applied?.kind === 'failed')
    return unapplied(made, {
      kind: 'unwritable',
      because: `its change could not be written: ${applied.reason}`,
    });
  return judgeApplied(session, cause, { deployed, change: applied?.change ?? null, changed, ...rest });
}

/** Ends an attempt that was never applied: its change, if any, exists only as a patch. */
export function unapplied(made: Unjudged, end: AttemptEnd): TriedFix {
  return { attempt: { ...made, end }, retest: null };
}

/** An attempt whose change is in the project. */
interface AppliedAttempt {
  readonly deployed: Deployment;
  /** Null if there was nothing to apply. */
  readonly change: Change | null;
  /** What changed since the test was green, where nobody has searched for what broke it. */
  readonly changed: readonly BlamedHunk[];
  /** The guard's findings other than violations. */
  readonly findings: ToChallenge & { readonly notes: readonly Note[] };
}

/**
 * Re-runs the tests and judges what they show. Another failure than the one to heal may come of a busy machine rather than of the fix, so it
 * counts only if a second run shows it again. Every test that gets the full proof is included, so that the proof starts here.
 */
async function judgeByRuns(
  session: Session,
  cause: Cause,
  { work, beside, deployed: { made } }: Omit<Judging, 'together'> & Pick<AppliedAttempt, 'deployed'>,
): Promise<{ readonly seen: Retest; readonly judged: Judged }> {
  const failures = [...chooseFlipped(cause), ...beside()];
  let shown: string | null = null;
  for (;;) {
    const seen = await retest(session, { failures, purpose: 'retest', causeId: cause.id });
    const now = seen.observe(cause.lead);
    const judged = ofThisChange(withoutLoop(judge(cause.lead, now), now, work.earlier), made);
    const brokeSuite = now.suiteFailure !== null && cause.lead.failure.scope === 'test';
    const other = judged.kind === 'changed' || brokeSuite ? (now.failure ?? now.suiteFailure) : null;
    if (other === null || shown === other.signature || session.signal.aborted) return { seen, judged };
    if (shown !== null) {
      const because = `the test fails differently in each run, at last with: ${headlineOf(other)}`;
      return { seen, judged: { kind: 'still-failing', because } };
    }
    shown = other.signature;
  }
}

async function judgeApplied(
  session: Session,
  cause: Cause,
  {
    work,
    beside,
    seen: shared,
    ...applied
  }: AppliedAttempt & Omit<Judging, 'together'> & Partial<Pick<Shared, 'seen'>>,
): Promise<TriedFix> {
  const { deployed, change, changed, findings } = applied;
  const { made } = deployed;
  const { seen, judged } = shared
    ? { seen: shared, judged: { kind: 'green', proof: [] } as const }
    : await judgeByRuns(session, cause, { work, beside, deployed });
  if (session.signal.aborted) {
    await takeOut(session, applied);
    return unapplied(made, { kind: 'interrupted', because: 'interrupted' });
  }
  const { hunks, edited, undone } = await undoneBy(session, cause, { change, changed });
  if (judged.kind === 'green' && undone && isAsked(session, cause, { work, undone }))
    return offered(session, cause, { ...applied, seen, undone });
  const toChallenge = { ...findings, suspicions: notRestored(findings.suspicions, { hunks, edited }) };
  const held = withNotes(session, cause, { ...applied, seen, undone });
  if (judged.kind === 'green') return { attempt: { ...held, end: judged }, retest: seen, toChallenge };
  const because = joined(deployed.because, judged.because, undone && `it ${undoesInWords(undone)}`);
  if (judged.kind === 'changed')
    return { attempt: { ...held, end: { kind: 'changed', because } }, retest: seen, toChallenge };
  await takeOut(session, applied);
  const kind = deployed.isDenied && judged.kind !== 'flaky' ? 'denied' : judged.kind;
  return { attempt: { ...made, end: { kind, because } }, retest: seen };
}

/** Returns what a fix takes back of the change that broke its tests, or of what changed lately, with what it was compared with. */
async function undoneBy(
  session: Session,
  { blame }: Cause,
  { change, changed }: Pick<AppliedAttempt, 'change' | 'changed'>,
) {
  const hunks = blame?.hunks ?? changed;
  const edited = change && hunks.length > 0 ? await editedFiles(session, change, blame?.base.commit) : [];
  const undone = blame ? undoing(blame, edited) : undoingOf(hunks, edited);
  return { hunks, edited, undone };
}

/** Whether a person is asked about a fix that takes something back. With guidance, one has said that the tests may not follow the app: it is only named. */
function isAsked(
  session: Session,
  cause: Cause,
  { work, undone }: { readonly work: Try; readonly undone: Undoing },
): boolean {
  const isDecided = work.proposal?.proposedBy === 'person' || work.known.guidance !== null;
  return !isDecided && isForPerson(session, cause, undone);
}

/** Takes out a fix that is green and that only a person can judge, with its proof. */
async function offered(
  session: Session,
  cause: Cause,
  { seen, undone, deployed, change }: AppliedAttempt & { seen: Retest; undone: Undoing },
): Promise<TriedFix> {
  const ended = await endOffered(session, cause, {
    made: { ...deployed.made, notes: [noteOfUndoing(session, undone)] },
    change: change?.id ?? '',
    side: 'app',
    summary: `its fix ${undoesInWords(undone)}`,
    greens: greensIn(cause, seen),
  });
  return { attempt: ended, retest: null };
}

/** How often a run has shown all tests green that a proof needs: this once, or not at all. */
function greensIn(cause: Cause, seen: Retest): number {
  return [...chooseFlipped(cause)].every((one) => isGreen(seen.observe(one))) ? 1 : 0;
}

interface Held extends AppliedAttempt {
  readonly seen: Retest;
  readonly undone: Undoing | null;
}

/** Adds what a reviewer should look at, including which reasons for the failure are still there although the test passes. */
function withNotes(session: Session, cause: Cause, { deployed, findings, seen, undone }: Held): Unjudged {
  const { workspace } = session;
  const left = cause.members.flatMap((member) => {
    const { failure } = member;
    if (failure.scope !== 'test') return [];
    const file = relativePath(workspace.root, failure.test.location.file);
    return (seen.reasonsLeft.get(member) ?? []).map(({ source, evidence }) => {
      const says = `passes although the ${source} still says: ${evidence}`;
      return { file, line: failure.test.location.line, says };
    });
  });
  const undoes = undone ? [noteOfUndoing(session, undone)] : [];
  const notes = [...undoes, ...findings.notes, ...new Map(left.map((one) => [one.says, one])).values()];
  return notes.length > 0 ? { ...deployed.made, notes } : deployed.made;
}

/** An error that an agent had already fixed on the same test came back: A, B, A is a loop, not progress (HN-9). */
function withoutLoop(judged: Judged, seen: Observation, earlier: ReadonlySet<string>): Judged {
  const now = seen.failure ?? seen.suiteFailure;
  if (judged.kind !== 'changed' || !now || !earlier.has(now.signature)) return judged;
  return {
    kind: 'still-failing',
    because: `an error that was fixed before came back: ${headlineOf(now)}`,
  };
}

/** An agent that changed nothing has healed nothing and got the test nowhere, even if it is green now or fails differently. */
function ofThisChange(judged: Judged, { agent, files }: Unjudged): Judged {
  if (files.length > 0) return judged;
  if (judged.kind === 'changed') return { ...judged, kind: 'still-failing' };
  if (judged.kind !== 'green') return judged;
  const because =
    agent === null
      ? 'green when re-run without a change'
      : 'green although the agent changed no files: flaky, or fixed outside the project';
  return { kind: 'flaky', because };
}

function joined(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join('; ');
}

/** Reverts a fix that did not hold, so that the next attempt starts from the user's own code. */
async function takeOut(session: Session, { change }: AppliedAttempt): Promise<void> {
  if (change !== null) await revertChanges(session, [change.id]);
}

/** Returns what changed since a test was green, where no search has said what broke it. */
async function changedLately(
  session: Session,
  { blame, lead }: Cause,
  isSuspected: boolean,
): Promise<BlamedHunk[]> {
  if (blame || !(isSuspected || isOwnAssertion(lead))) return [];
  const { cwd, workspace, redactor } = session;
  const edited = workspace.edited();
  const changes = await changesFor({
    root: cwd,
    tree: cwd,
    lead,
    lastGreen: lastGreenCommits(cwd),
    isLeftOut: (file) => edited.has(file),
    clean: (text) => redactor.clean(text),
  }).catch(() => null);
  return changes?.hunks.map((hunk) => ({ ...hunk, inTests: false })) ?? [];
}

/** Returns the files of a change with their texts, relative to the project, also at the commit at which its test was green. */
async function editedFiles(
  { cwd, workspace, folder }: Pick<Session, 'cwd' | 'workspace' | 'folder'>,
  { edits }: Change,
  green: string | undefined,
): Promise<EditedFile[]> {
  const contents = contentsOf(folder.dir);
  const textOf = async (state: FileState | null) =>
    state?.kind === 'file' ? (await contents.get(state.hash)).toString('utf8') : null;
  return Promise.all(
    edits.map(async (edit) => {
      const file = relativePath(cwd, path.join(workspace.root, edit.path));
      return {
        file,
        before: await textOf(edit.before),
        after: await textOf(edit.after),
        green: green === undefined ? null : await git(cwd, ['show', `${green}:./${file}`]),
      };
    }),
  );
}

/** Says what a fix takes back: `undoes all of abc1234 "Friendlier words"`. */
function undoesInWords({ how, of }: Undoing): string {
  return `undoes ${how === 'all' ? 'all' : 'part'} of ${of}`;
}

/** Names it for the reviewer, at the blamed lines. */
function noteOfUndoing({ cwd, workspace }: Pick<Session, 'cwd' | 'workspace'>, undone: Undoing): Note {
  const { file, line } = undone.at;
  return {
    file: relativePath(workspace.root, path.resolve(cwd, file)),
    line,
    says: `the fix ${undoesInWords(undone)}`,
  };
}

/**
 * Whether only a person can say if a fix is right: to a test, a change that its author meant looks like a fault. It is, if the fix takes back
 * all of the blamed lines, or those of their texts and markup that a test expects.
 */
function isForPerson({ settings }: Pick<Session, 'settings'>, cause: Cause, undone: Undoing): boolean {
  if (settings.verify.intent === 'tests' || !isOwnAssertion(cause.lead)) return false;
  const said = cause.members.flatMap(({ evidence }) =>
    evidence.errors.map(({ message, snippet }) => `${message}\n${snippet ?? ''}`),
  );
  return undone.isWhole || undone.texts.some((text) => said.some((one) => one.includes(text)));
}
