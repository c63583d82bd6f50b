import { type Attempt, isKept, sumCosts } from '../model/attempt.js';
import type { Cause, CauseRecord, DiagnosedFailure } from '../model/cause.js';
import { isPaused } from './policy.js';
import type { ProofOutcome, ProofStep, TestProof } from '../model/proof.js';
import { type CauseEnd, type CauseVerdict, type RunResult, isResolved } from '../model/verdict.js';
import { failureKey, listTests } from '../model/failure.js';
import type { CauseWork } from './cause-work.js';
import type { BlameSearches } from './hooks.js';
import type { GreenTest } from './alike.js';
import type { EventOf } from '../event.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';
import { listAttempts, type CauseState } from '../run/run-state.js';
import type { Session } from './session.js';
import { describeFailure } from '../diagnose/headline.js';
import { storedSignature } from './stored-signature.js';

/** The result of healing, apart from the run's tests and causes. */
export type HealResult = Pick<RunResult, 'suiteRed' | 'paused' | 'verified'>;

/** The state that all rounds of a run share. What happened to a cause is in the state of the run: see `findCauseState`. */
export interface Progress {
  readonly session: Session;
  /** The causes by id, in the order in which they were found, without tests that another fix has healed since. */
  readonly causes: Map<string, Cause>;
  /** The last finished work on each cause, by id. */
  readonly finishedWork: Map<string, CauseWork>;
  /** The causes whose tests are green with other causes' unproven fixes, by id, with the reason for the report. */
  readonly greenWithOthers: Map<string, string>;
  suiteFlakes: number;
  /** The number of causes found so far, from which their ids are made. */
  causeCount: number;
  /** Failures that could not be confirmed because the suite did not start, by key. */
  readonly blocked: Map<string, DiagnosedFailure>;
  /** For each test of the first run, by id: the ids to select to re-run it. */
  readonly rerunIds: Readonly<Record<string, readonly string[]>>;
  /** The tests that were green in the first run and can run alone. */
  readonly greenTests: readonly GreenTest[];
  /** The tests that ran in the first run. */
  readonly ranTests: readonly TestResult[];
  /** Tests that are green with a fix that is not proven yet. */
  readonly proofTests: ProofTest[];
  /** The searches for the changes that broke the causes of each round. */
  readonly searches: BlameSearches[];
}

export function createProgress(session: Session, first: SuiteRun): Progress {
  const serialIds = new Set(first.serial?.flat());
  return {
    session,
    causes: new Map(),
    finishedWork: new Map(),
    greenWithOthers: new Map(),
    suiteFlakes: 0,
    causeCount: 0,
    blocked: new Map(),
    rerunIds: first.rerunIds,
    greenTests: first.tests.filter(({ test, outcome }) => outcome === 'expected' && !serialIds.has(test.id)),
    ranTests: first.tests.filter(({ outcome }) => outcome !== 'not-run' && outcome !== 'skipped'),
    proofTests: [],
    searches: [],
  };
}

/** Announces a new cause, or a cause narrowed to the tests that no other fix has healed. */
export function announceCause({ session, causes }: Progress, cause: Cause): void {
  const type = causes.has(cause.id) ? 'cause.narrowed' : 'cause.found';
  causes.set(cause.id, cause);
  session.bus.emit({ type, cause: summarizeCause(cause) });
}

export function findCauseState({ session }: Progress, { id }: Pick<Cause, 'id'>): CauseState | undefined {
  return session.bus.getRun().causes.find((cause) => cause.id === id);
}

/** Returns the attempts at a cause, including those whose proof is pending. */
export function listCauseAttempts(progress: Progress, cause: Cause): Attempt[] {
  return listAttempts(findCauseState(progress, cause) ?? { attempts: [] });
}

/** Returns the last attempt at a cause if its change is in the tree until its proof decides. */
export function findHeldAttempt(progress: Progress, cause: Pick<Cause, 'id'>): Attempt | null {
  const last = findCauseState(progress, cause)?.attempts.at(-1);
  return last?.judged ? null : (last?.held ?? null);
}

/** Returns the verdict on a cause, treating unproven fixes as proven; null if there is none yet. */
export function getCurrentVerdict(progress: Progress, cause: Cause): CauseVerdict | null {
  const isHealed =
    progress.greenWithOthers.has(cause.id) || findHeldAttempt(progress, cause)?.end.kind === 'green';
  return isHealed ? 'healed' : (findCauseState(progress, cause)?.ended?.verdict ?? null);
}

/** True if a cause waits for the proof of a fix: its own, which is green or has revealed another error, or another cause's. */
export function isUnproven(progress: Progress, cause: Cause): boolean {
  return progress.greenWithOthers.has(cause.id) || findHeldAttempt(progress, cause) !== null;
}

/** How often the suite's own failure may disappear and come back before healing stops. */
const MAX_SUITE_FLAKES = 2;

/** True if healing may start on another cause or with another agent. */
export function mayStartMoreWork(progress: Progress): boolean {
  const { session, causes, suiteFlakes } = progress;
  // Healing stops at an unusable agent only after an attempt with it: before that, nothing was spent, and every cause still gets its diagnosis.
  const isUnusable = [...causes.values()].some((cause) => {
    return (
      getCurrentVerdict(progress, cause) === 'agent-unusable' && listCauseAttempts(progress, cause).length > 0
    );
  });
  return !session.signal.aborted && !isUnusable && !isPausedNow(progress) && suiteFlakes <= MAX_SUITE_FLAKES;
}

/** True if so many causes need a person that no more agents start. */
export function isPausedNow({ session, greenWithOthers }: Progress): boolean {
  const ends = session.bus.getRun().causes.flatMap(({ id, ended }) => {
    return ended === null || greenWithOthers.has(id) ? [] : [ended];
  });
  return isPaused(ends, session.settings.limits);
}

/** True if a failure of the suite itself is unresolved. */
export function isSuiteRed(progress: Progress): boolean {
  return [...progress.causes.values()].some((cause) => {
    const verdict = getCurrentVerdict(progress, cause);
    return cause.lead.failure.scope === 'suite' && verdict !== null && !isResolved(verdict);
  });
}

/** Returns the attempts at a cause whose changes are in the tree. */
export function listKeptAttempts(progress: Progress, cause: Cause): Attempt[] {
  return listCauseAttempts(progress, cause).filter((attempt) => isKept(attempt) && attempt.change !== null);
}

export function listCauseChanges(progress: Progress, cause: Cause): string[] {
  return listKeptAttempts(progress, cause).flatMap(({ change }) => change ?? []);
}

/** Returns the causes that have changes in the tree, in the order in which these were applied. */
export function listKeptCauses(progress: Progress): Cause[] {
  const applied = progress.session.workspace.listApplied();
  const getPosition = (cause: Cause) => applied.indexOf(listCauseChanges(progress, cause).at(-1) ?? '');
  const kept = [...progress.causes.values()].filter((cause) => listCauseChanges(progress, cause).length > 0);
  return kept.toSorted((a, b) => getPosition(a) - getPosition(b));
}

/** Returns the ids of all changes in the tree, in the order in which these were applied. */
export function listKeptChanges(progress: Progress): string[] {
  return listKeptCauses(progress).flatMap((cause) => listCauseChanges(progress, cause));
}

/**
 * Returns the later causes with the same tests as a cause whose fix revealed another error (HL-3). A chain of such fixes is kept if it ends in a proven
 * heal, and otherwise reverted as a whole (HN-1).
 */
export function listRevealedCauses(progress: Progress, cause: Cause): Cause[] {
  if (getCurrentVerdict(progress, cause) !== 'superseded') return [];
  const all = [...progress.causes.values()];
  const later = all.slice(all.findIndex(({ id }) => id === cause.id) + 1);
  return later.filter((other) => haveCommonTest(other, cause));
}

/** Returns the causes with a fix that is not yet proven and that revealed the error of this cause. */
export function listRevealingCauses(progress: Progress, cause: Pick<Cause, 'id' | 'members'>): Cause[] {
  return [...progress.causes.values()].filter(
    (other) =>
      other.id !== cause.id &&
      getCurrentVerdict(progress, other) === 'superseded' &&
      findHeldAttempt(progress, other) !== null &&
      haveCommonTest(other, cause),
  );
}

function haveCommonTest(cause: Cause, other: Pick<Cause, 'members'>): boolean {
  const keys = collectKeys(cause);
  return other.members.some(({ failure }) => keys.has(failureKey(failure)));
}

export function collectKeys({ members }: Pick<Cause, 'members'>): ReadonlySet<string> {
  return new Set(members.map(({ failure }) => failureKey(failure)));
}

/** Stores and announces the end of a cause, with its proof if another cause's fix healed it. */
export async function endCause(
  progress: Progress,
  cause: Cause,
  { proof, testProofs, ...end }: CauseEnd & Partial<Pick<EventOf<'cause.ended'>, 'proof' | 'testProofs'>>,
): Promise<void> {
  progress.greenWithOthers.delete(cause.id);
  const { session } = progress;
  const attempts = listCauseAttempts(progress, cause);
  if (end.verdict === 'healed' && attempts.at(-1)?.end.kind !== 'green')
    await session.store.recordHealByOtherFix({
      signature: storedSignature(cause.lead),
      runId: session.folder.runId,
    });
  session.bus.emit({
    type: 'cause.ended',
    causeId: cause.id,
    ...end,
    attempts: attempts.length,
    costUsd: sumCosts(attempts).costUsd,
    ...(proof ? { proof } : {}),
    ...(testProofs ? { testProofs } : {}),
  });
}

/** A test that is green with a fix, and its progress through the proof (HN-5). */
export interface ProofTest {
  readonly failure: DiagnosedFailure;
  readonly causeId: string;
  /** True if the fix was made for this test; if a shared run contradicts it, its cause is proven alone. */
  readonly isLead: boolean;
  /** True if it also runs without the fix, as up to three tests of a cause do. */
  readonly runsBothWays: boolean;
  /** The first Playwright run of its proof. */
  readonly since: number;
  /** The changes that revealed its error. */
  readonly revealedBy: readonly string[];
  /** Null while it is still in the proof. */
  ended: ProofOutcome | null;
  /** Set if it was red with the fix from the start, so that its failure gets its own cause. */
  readonly hasOwnCause?: true;
}

/** Begins the proof of a test. The test's newest run is the first with its fix, unless `hasRun` is false. */
export function createProofTest(
  progress: Progress,
  test: Pick<ProofTest, 'failure' | 'causeId' | 'isLead' | 'runsBothWays'>,
  hasRun = true,
): ProofTest {
  const { observations } = progress.session;
  const since = hasRun ? observations.getLatestRun(test.failure) : observations.getNextRun();
  const causes = listRevealingCauses(progress, { id: test.causeId, members: [test.failure] });
  const revealedBy = causes.flatMap((cause) => listCauseChanges(progress, cause));
  return { ...test, since, revealedBy, ended: null };
}

/** Returns a test's results in all runs so far; if its fix holds, they are the proof. */
export function listProofSteps(
  { session }: Progress,
  { failure, hasOwnCause, ...when }: ProofTest,
): ProofStep[] {
  const { before, after } = session.observations.listSteps(failure, when);
  // Its later runs belong to its own cause.
  return [...before, ...(hasOwnCause ? after.slice(0, 1) : after)];
}

/** Returns the proof of each test. A test that is still in the proof counts as proven, or as green if it did not run without the fix. */
export function createTestProofs(progress: Progress, tests: readonly ProofTest[]): TestProof[] {
  return tests.map((test) => ({
    id: failureKey(test.failure.failure),
    proof: listProofSteps(progress, test),
    ended: test.ended ?? (test.runsBothWays ? 'proven' : 'green'),
  }));
}

/** Converts a cause to the record that events and reports contain. */
export function summarizeCause({ id, lead, members, parent }: Cause): CauseRecord {
  const { category, alternatives, why, confidence, warning, facts } = lead.diagnosis;
  return {
    id,
    signature: lead.signature,
    category,
    alternatives,
    why,
    confidence,
    // The lead comes first, because headline and class are from it.
    tests: listTests([lead, ...members.filter((member) => member !== lead)]),
    headline: describeFailure(lead),
    source: facts.source,
    parent,
    warning,
    evidence: `failures/${lead.n}`,
  };
}
