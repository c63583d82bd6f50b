import { type Attempt, isKept } from '../core/attempt.js';
import type { Cause, DiagnosedFailure } from '../core/cause.js';
import { isPaused } from '../core/policy.js';
import type { RunResult } from '../core/outcome.js';
import { failureKey } from '../core/failure.js';
import type { CauseVerdict } from '../core/verdict.js';
import type { HealedCause } from './heal-cause.js';
import type { ProofTest } from './proof-test.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Session } from './session.js';

/** A cause with its ending. */
export interface CauseRecord {
  readonly cause: Cause;
  readonly verdict: CauseVerdict;
  readonly reason: string;
  readonly attempts: readonly Attempt[];
  /** A limit ended it (exit 4). */
  readonly overBudget: boolean;
  /** It was left in the middle of its work. */
  readonly interrupted?: boolean;
  /** An earlier run asked it. */
  readonly askedBefore?: boolean;
  /** Its tests are green with a fix that is not proven yet; absent when that is decided. */
  readonly unproven?: Unproven;
}

/** Whose fix it is, and how the cause stands where that is not proven. */
export type Unproven =
  | { readonly by: 'own-fix'; readonly healed: HealedCause }
  /** Null where its tests are failures of their own then. */
  | { readonly by: 'other-fix'; readonly otherwise: CauseRecord | null };

/** What the outcome of a run depends on, beside its tests. */
export interface Healed extends Pick<RunResult, 'suiteRed' | 'paused'> {
  readonly causes: readonly CauseRecord[];
}

/** What the rounds of one run share. */
export interface Progress {
  readonly session: Session;
  readonly causes: CauseRecord[];
  suiteFlakes: number;
  /** Failures that were not looked at again because the suite did not start, by their key. */
  readonly blocked: Map<string, DiagnosedFailure>;
  /** The first run showed a failure of the suite's own, or was broken off: its tests are not the whole of it. */
  readonly firstWasBroken: boolean;
  /** What to run so that a test of the first run runs again, by its id. */
  readonly rerunIds: Readonly<Record<string, readonly string[]>>;
  /** Tests that are green with a fix, until it is proven. */
  readonly proofTests: ProofTest[];
  /** When each failure was last red, by its key. */
  readonly lastRed: Map<string, LastRed>;
}

/** That of a run that begins. */
export function newProgress(session: Session, first: SuiteRun): Progress {
  return {
    session,
    causes: [],
    suiteFlakes: 0,
    blocked: new Map(),
    firstWasBroken: first.suiteFailure !== null || first.status === 'interrupted',
    rerunIds: first.rerunIds,
    proofTests: [],
    lastRed: new Map(),
  };
}

/** A suite whose own failure comes and goes is given up after this many disappearances. */
const SUITE_FLAKES_TOLERATED = 2;

/** Whether further causes are healed, and further agents started. */
export function goesOn({ session, causes, suiteFlakes }: Progress): boolean {
  // Where no agent could be started, none was paid: then every cause is still worth a diagnosis.
  const unusable = causes.some((one) => one.verdict === 'agent-unusable' && one.attempts.length > 0);
  const paused = isPaused(causes, session.settings.limits);
  return !session.signal.aborted && !unusable && !paused && suiteFlakes <= SUITE_FLAKES_TOLERATED;
}

/** The last time that a test was red. */
export interface LastRed {
  readonly signature: string;
  /** The fixes that were in the tree then, as `fixesIn` names them. */
  readonly fixes: string;
  /** How often in a row it was red with this signature. */
  readonly times: number;
}

/** The attempts of a cause whose changes are in the tree. */
export function keptAttempts({ attempts }: Pick<CauseRecord, 'attempts'>): Attempt[] {
  return attempts.filter((one) => isKept(one) && one.change !== null);
}

/** The ids of a cause's changes in the tree. */
export function changesOf(record: Pick<CauseRecord, 'attempts'>): string[] {
  return keptAttempts(record).flatMap(({ change }) => change ?? []);
}

/** Names the fixes that are in the tree, so that two runs can be said to have been made on the same one. */
export function fixesIn({ causes }: Progress): string {
  return causes.flatMap(changesOf).join();
}

/** Keeps that a run of the tree as it is now showed a failure. */
export function sawRed(progress: Progress, failure: DiagnosedFailure): void {
  const key = failureKey(failure.failure);
  const before = progress.lastRed.get(key);
  const { signature } = failure;
  const times = before?.signature === signature ? before.times + 1 : 1;
  progress.lastRed.set(key, { signature, times, fixes: fixesIn(progress) });
}

/** Whether the last run of the tree as it is now showed this test red; then it is not run once more to see just that. */
export function isKnownRed(progress: Progress, failure: DiagnosedFailure): boolean {
  return progress.lastRed.get(failureKey(failure.failure))?.fixes === fixesIn(progress);
}
