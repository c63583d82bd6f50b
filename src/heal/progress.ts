import { type Attempt, isKept } from '../core/attempt.js';
import type { Cause, DiagnosedFailure } from '../core/cause.js';
import { isPaused } from '../core/policy.js';
import type { ProofOutcome, ProofStep, TestProof } from '../core/proof.js';
import { spentOn } from '../core/spent-on.js';
import type { RunResult } from '../core/outcome.js';
import { failureKey } from '../core/failure.js';
import { type CauseVerdict, isResolved } from '../core/verdict.js';
import type { HealedCause } from './heal-cause.js';
import type { GreenTest } from '../core/alike.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Session } from './session.js';

/** A cause with its verdict. */
export interface CauseRecord {
  readonly cause: Cause;
  readonly verdict: CauseVerdict;
  readonly reason: string;
  readonly attempts: readonly Attempt[];
  /** Whether a limit ended it (exit code 4). */
  readonly overBudget: boolean;
  /** Whether an earlier run already asked its question. */
  readonly askedBefore?: boolean;
  /** Set while it is not decided: its tests are green with a fix that is not proven yet, or its fix revealed an error that is not healed yet. */
  readonly unproven?: Unproven;
}

/** Whose fix it is, and what becomes of the cause if the fix is refuted. */
export type Unproven =
  | { readonly by: 'own-fix'; readonly healed: HealedCause }
  /** `otherwise` is null if its tests then become failures of their own. */
  | { readonly by: 'other-fix'; readonly otherwise: CauseRecord | null };

/** What the outcome of a run depends on besides its tests. */
export interface Healed extends Pick<RunResult, 'suiteRed' | 'paused'> {
  readonly causes: readonly CauseRecord[];
}

/** The state that the rounds of one run share. */
export interface Progress {
  readonly session: Session;
  readonly causes: CauseRecord[];
  suiteFlakes: number;
  /** Failures that could not be confirmed because the suite did not start, by key. */
  readonly blocked: Map<string, DiagnosedFailure>;
  /** Whether the first run had a failure of the suite itself or was interrupted, so that it does not show all tests. */
  readonly firstWasBroken: boolean;
  /** The ids to run so that a test of the first run is re-run, by its own id. */
  readonly rerunIds: Readonly<Record<string, readonly string[]>>;
  /** The tests that were green in the first run and can be run by themselves. */
  readonly green: readonly GreenTest[];
  /** Tests that are green with a fix that is not proven yet. */
  readonly proofTests: ProofTest[];
  /** When each failure was last red, by key. */
  readonly lastRed: Map<string, LastRed>;
}

/** Creates the progress of a new run. */
export function newProgress(session: Session, first: SuiteRun): Progress {
  return {
    session,
    causes: [],
    suiteFlakes: 0,
    blocked: new Map(),
    firstWasBroken: first.suiteFailure !== null || first.status === 'interrupted',
    rerunIds: first.rerunIds,
    green: greenIn(first),
    proofTests: [],
    lastRed: new Map(),
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

/** The last time that a test was red. */
export interface LastRed {
  readonly signature: string;
  /** The fixes in the tree at that time, as named by `fixesIn`. */
  readonly fixes: string;
  /** How often in a row it was red with this signature. */
  readonly times: number;
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

/** Identifies the set of fixes in the tree, to tell whether two runs were made on the same tree. */
export function fixesIn({ causes }: Progress): string {
  return causes.flatMap(changesOf).join();
}

/** Records that a run of the current tree showed a failure. */
export function sawRed(progress: Progress, failure: DiagnosedFailure): void {
  const key = failureKey(failure.failure);
  const before = progress.lastRed.get(key);
  const { signature } = failure;
  const times = before?.signature === signature ? before.times + 1 : 1;
  progress.lastRed.set(key, { signature, times, fixes: fixesIn(progress) });
}

/** Whether a run of the current tree showed this test red, so that it need not be run again to see it red. */
export function isKnownRed(progress: Progress, failure: DiagnosedFailure): boolean {
  return progress.lastRed.get(failureKey(failure.failure))?.fixes === fixesIn(progress);
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
  proven: Partial<Pick<Attempt, 'proof' | 'testProofs'>> = {},
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
    bySharedFix: attempts.at(-1)?.judged !== 'green',
  });
  progress.session.bus.emit({
    type: 'cause.ended',
    causeId: cause.id,
    verdict,
    reason,
    attempts: attempts.length,
    costUsd: spentOn(attempts).costUsd,
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
  readonly steps: ProofStep[];
  /** Null while it is still taking part. */
  ended: ProofOutcome | null;
  /** Set if it was red with the fix from the start, so that its failure has a cause of its own. */
  readonly isOther?: true;
  /** The failure it had when it was red with the fix, or null. */
  now: DiagnosedFailure | null;
}

/** Creates the proof state of a test that was red before the fix and was green `greens` times with it. */
export function proofTest(
  { session, lastRed }: Progress,
  of: Pick<ProofTest, 'failure' | 'causeId' | 'isLead' | 'isFlipped'>,
  greens: number,
): ProofTest {
  const key = failureKey(of.failure.failure);
  const seen = lastRed.get(key)?.times ?? 0;
  // Earlier failures no longer count for what it shows from now on.
  if (greens > 0) lastRed.delete(key);
  // A test that another one was run again for was red once.
  const least = of.failure.like === undefined ? 1 + session.settings.verify.confirm : 1;
  const reds = Math.max(seen, least);
  const steps = [...Array<ProofStep>(reds).fill('red'), ...Array<ProofStep>(greens).fill('green')];
  return { ...of, steps, ended: null, now: null };
}

/** Returns the proof of each test; tests that are still taking part count as proven, or as green if they were not run without the fix. */
export function testProofs(tests: readonly ProofTest[]): TestProof[] {
  return tests.map(({ failure, steps, ended, isFlipped }) => ({
    id: failureKey(failure.failure),
    proof: [...steps],
    ended: ended ?? (isFlipped ? 'proven' : 'green'),
  }));
}
