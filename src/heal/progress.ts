import { type Attempt, isKept, spentOn, becauseOf } from '../core/attempt.js';
import type { Cause, DiagnosedFailure } from '../core/cause.js';
import { type CauseEnd, isPaused } from '../core/policy.js';
import type { ProofOutcome, ProofStep, TestProof } from '../core/proof.js';
import { type RunResult, isResolved } from '../core/verdict.js';
import { failureKey, testsOf } from '../core/failure.js';
import type { TriedCause } from './heal-cause.js';
import type { GreenTest } from '../core/alike.js';
import type { EventOf, CauseSummary } from '../event.js';
import type { SuiteRun, TestResult } from '../playwright/suite-run.js';
import type { Session } from './session.js';
import { headlineOf } from '../core/headline.js';

/** A cause with its verdict. */
export interface CauseRecord extends CauseEnd {
  readonly cause: Cause;
  readonly attempts: readonly Attempt[];
  /** Set while it is not decided: its tests are green with a fix that is not proven yet, or its fix revealed an error that is not healed yet. */
  readonly unproven?: Unproven;
}

/** Whose fix it is, and what becomes of the cause if the fix is refuted. */
export type Unproven =
  | { readonly by: 'own-fix'; readonly healed: TriedCause }
  /** `otherwise` is null if its tests then become failures of their own. */
  | { readonly by: 'other-fix'; readonly otherwise: CauseRecord | null };

/** What the outcome of a run depends on besides its tests. */
export interface Healed extends Pick<RunResult, 'suiteRed' | 'paused' | 'verified'> {
  readonly causes: readonly CauseRecord[];
}

/** The state that the rounds of one run share. */
export interface Progress {
  readonly session: Session;
  readonly causes: CauseRecord[];
  suiteFlakes: number;
  /** Failures that could not be confirmed because the suite did not start, by key. */
  readonly blocked: Map<string, DiagnosedFailure>;
  /** The ids to run so that a test of the first run is re-run, by its own id. */
  readonly rerunIds: Readonly<Record<string, readonly string[]>>;
  /** The tests that were green in the first run and can be run by themselves. */
  readonly green: readonly GreenTest[];
  /** The tests that ran in the first run. */
  readonly ran: readonly TestResult[];
  /** Tests that are green with a fix that is not proven yet. */
  readonly proofTests: ProofTest[];
}

/** Creates the progress of a new run. */
export function newProgress(session: Session, first: SuiteRun): Progress {
  return {
    session,
    causes: [],
    suiteFlakes: 0,
    blocked: new Map(),
    rerunIds: first.rerunIds,
    green: greenIn(first),
    ran: first.tests.filter(({ outcome }) => outcome !== 'not-run' && outcome !== 'skipped'),
    proofTests: [],
  };
}

function greenIn({ tests, serial = [] }: SuiteRun): GreenTest[] {
  const inGroups = new Set(serial.flat());
  return tests.filter(({ test, outcome }) => outcome === 'expected' && !inGroups.has(test.id));
}

/** How often the suite's own failure may disappear and come back before healing is given up. */
const SUITE_FLAKES_TOLERATED = 2;

/** Whether more causes are healed and more agents are started. */
export function goesOn({ session, causes, suiteFlakes }: Progress): boolean {
  // If no agent could be started, none was paid, so every cause is still worth a diagnosis.
  const unusable = causes.some((one) => one.verdict === 'agent-unusable' && one.attempts.length > 0);
  const paused = isPaused(causes, session.settings.limits);
  return !session.signal.aborted && !unusable && !paused && suiteFlakes <= SUITE_FLAKES_TOLERATED;
}

/** Whether a failure of the suite itself is still open. */
export function isSuiteRed(causes: readonly CauseRecord[]): boolean {
  return causes.some(({ verdict, cause }) => cause.lead.failure.scope === 'suite' && !isResolved(verdict));
}

/** Returns the attempts of a cause whose changes are in the tree. */
export function keptAttempts({ attempts }: Pick<CauseRecord, 'attempts'>): Attempt[] {
  return attempts.filter((one) => isKept(one) && one.change !== null);
}

/** Returns the ids of a cause's changes in the tree. */
export function changesOf(record: Pick<CauseRecord, 'attempts'>): string[] {
  return keptAttempts(record).flatMap(({ change }) => change ?? []);
}

/**
 * Returns the later causes with tests of a cause whose fix led to another error (HL-3). Its change stands or falls with theirs: a chain of
 * attempts is kept if it ends in a proven heal, and else taken out as a whole (HN-1).
 */
export function revealedBy({ causes }: Progress, record: CauseRecord): CauseRecord[] {
  if (record.verdict !== 'superseded') return [];
  const later = causes.slice(causes.indexOf(record) + 1);
  return later.filter(({ cause }) => haveCommonTest(cause, record.cause));
}

/** Returns the causes whose undecided fixes revealed the error of this one. */
export function revealing({ causes }: Progress, cause: Cause): CauseRecord[] {
  return causes.filter(
    (one) =>
      one.cause.id !== cause.id &&
      one.verdict === 'superseded' &&
      one.unproven &&
      haveCommonTest(one.cause, cause),
  );
}

function haveCommonTest(one: Cause, other: Cause): boolean {
  const keys = new Set(one.members.map(({ failure }) => failureKey(failure)));
  return other.members.some(({ failure }) => keys.has(failureKey(failure)));
}

/** Adds the record of a cause, or replaces its earlier record. */
export function put({ causes }: Progress, record: CauseRecord): void {
  const at = causes.findIndex((one) => one.cause.id === record.cause.id);
  if (at === -1) causes.push(record);
  else causes[at] = record;
}

/** Records the end of a cause and announces it, with the proof of a fix that is another cause's. */
export async function endCause(
  progress: Progress,
  ended: CauseRecord,
  proven: Partial<Pick<EventOf<'cause.ended'>, 'proof' | 'testProofs'>> = {},
): Promise<void> {
  put(progress, ended);
  const { cause, verdict, reason, attempts } = ended;
  const { signature, diagnosis } = cause.lead;
  await progress.session.store.causeEnded({
    causeId: cause.id,
    signature,
    category: diagnosis.category,
    verdict,
    reason,
    bySharedFix: attempts.at(-1)?.end.kind !== 'green',
  });
  progress.session.bus.emit({
    type: 'cause.ended',
    causeId: cause.id,
    verdict,
    reason,
    attempts: attempts.length,
    costUsd: spentOn(attempts).costUsd,
    ...(ended.overBudget ? { overBudget: true } : {}),
    ...proven,
  });
}

/** A test that is green with a fix, and its progress through the proof (HN-5). */
export interface ProofTest {
  readonly failure: DiagnosedFailure;
  readonly causeId: string;
  /** Whether the fix was made for this test; if a shared run contradicts it, its cause is proven alone. */
  readonly isLead: boolean;
  /** Whether it takes part in the runs without the fix, too; three of a cause do. */
  readonly isFlipped: boolean;
  /** The first Playwright run of its proof: with the fix, or without it if it is yet to be run. */
  readonly since: number;
  /** The changes that its error came with. */
  readonly base: readonly string[];
  /** Null while it is still taking part. */
  ended: ProofOutcome | null;
  /** Set if it was red with the fix from the start, so that its failure has a cause of its own. */
  readonly isOther?: true;
}

/** Creates the proof state of a test whose newest run is the first with its fix, or that is yet to be run with it. */
export function proofTest(
  progress: Progress,
  of: Pick<ProofTest, 'failure' | 'causeId' | 'isLead' | 'isFlipped'>,
  isRun = true,
): ProofTest {
  const { observations } = progress.session;
  const since = isRun ? observations.latestRun(of.failure) : observations.nextRun();
  const key = failureKey(of.failure.failure);
  const base = progress.causes.filter(
    ({ cause, verdict, unproven }) =>
      cause.id !== of.causeId &&
      verdict === 'superseded' &&
      unproven !== undefined &&
      cause.members.some(({ failure }) => failureKey(failure) === key),
  );
  return { ...of, since, base: base.flatMap(changesOf), ended: null };
}

/** Returns what all runs have shown of a test so far: the proof of its fix, if it holds. */
export function stepsOf({ session }: Progress, { failure, isOther, ...when }: ProofTest): ProofStep[] {
  const { before, after } = session.observations.steps(failure, when);
  // What follows is part of the work on its own cause.
  return [...before, ...(isOther ? after.slice(0, 1) : after)];
}

/** Returns the proof of each test; tests that are still taking part count as proven, or as green if they were not run without the fix. */
export function testProofs(progress: Progress, tests: readonly ProofTest[]): TestProof[] {
  return tests.map((test) => ({
    id: failureKey(test.failure.failure),
    proof: stepsOf(progress, test),
    ended: test.ended ?? (test.isFlipped ? 'proven' : 'green'),
  }));
}

/** Returns a cause as events and reports name it. */
export function summarise({ id, lead, members, parent }: Cause): CauseSummary {
  const { category, alternatives, why, confidence, warning, facts } = lead.diagnosis;
  return {
    id,
    signature: lead.signature,
    category,
    alternatives,
    why,
    confidence,
    // Headline and class are those of the lead.
    tests: testsOf([lead, ...members.filter((one) => one !== lead)]),
    headline: headlineOf(lead),
    source: facts.source,
    parent,
    warning,
    evidence: `failures/${lead.n}`,
  };
}

interface OfCause {
  readonly causeId: string;
  /** Id of the attempt in the store; null if the store could not be written. */
  readonly id: string | null;
  readonly attempt: Attempt;
}

/**
 * Handles the end of an attempt. A green one is decided by its proof, and so is one that led to another
 * error: by the proof of the fix for that one (HN-1). Any other one is decided immediately.
 */
export async function attemptTried(session: Session, tried: OfCause): Promise<void> {
  const { causeId, attempt } = tried;
  const { n, agent, change } = attempt;
  if (isKept(attempt))
    session.bus.emit({
      type: 'attempt.held',
      causeId,
      attempt: n,
      agent,
      change,
      error: becauseOf(attempt),
    });
  else await attemptDecided(session, tried);
}

/** Finishes an attempt: it is stored first, then its change is marked as decided if it is kept, and only then is it announced. */
export async function attemptDecided(
  { store, workspace, bus }: Session,
  { causeId, id, attempt }: OfCause,
): Promise<void> {
  await store.attemptFinished(id, attempt);
  if (isKept(attempt) && attempt.change !== null) await workspace.decided([attempt.change]);
  bus.emit({ type: 'attempt.judged', causeId, attempt });
}
