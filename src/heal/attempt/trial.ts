import { randomUUID } from 'node:crypto';
import {
  type Attempt,
  type AttemptEnd,
  createAttempt,
  isKept,
  type PendingAttempt,
} from '../../model/attempt.js';
import type { Cause } from '../../model/cause.js';
import type { Note } from '../../model/guard-findings.js';
import type { AttemptStart } from '../../store/store.js';
import type { Change } from '../../workspace/change.js';
import type { Work } from '../../workspace/workspace.js';
import type { PreparedPatch } from '../hooks.js';
import { rememberedAs } from '../remembered-as.js';
import type { Retest } from '../retest.js';
import type { Session } from '../session.js';

/** An attempt at a cause, which is filled in from its start to its end. */
export interface Trial {
  /** Its id in the store, where it stays unfinished until its fix is proven. */
  readonly id: string;
  /** What reports say of it, without its end. */
  record: PendingAttempt;
  /** What an agent or a proposal made; null for nothing. */
  work: Work | null;
  /** What may enter the project; null if there is nothing to apply. */
  change: Change | null;
  /** What its program says about a failure, besides what a re-run shows; null for nothing. */
  because: string | null;
  /** Whether its program denied it every edit. */
  isDenied: boolean;
  /** All of an agent's work, if something was left out of it that a person may let in; null otherwise. */
  whole: PreparedPatch | null;
  /** What a reviewer should look at. */
  notes: readonly Note[];
  /** Whether it can be tried in the project, perhaps together with those of other causes. */
  isReady: boolean;
  /** The last run with it; null if there was none, or if its result no longer applies. */
  retest: Retest | null;
  end: AttemptEnd | null;
}

/** Starts an attempt, which the store learns at once. */
export async function startTrial(
  session: Pick<Session, 'store' | 'folder'>,
  cause: Cause,
  { n, agent, runner }: Pick<AttemptStart, 'n' | 'agent' | 'runner'>,
): Promise<Trial> {
  return {
    id: await storeStart(session, cause, { n, agent, runner }),
    record: createAttempt(n),
    work: null,
    change: null,
    because: null,
    isDenied: false,
    whole: null,
    notes: [],
    isReady: false,
    retest: null,
    end: null,
  };
}

/** Whether the fix of an attempt is in the project, and green in a run with those of other causes. */
export function isGreenInCompany(trial: Trial | null): boolean {
  return trial !== null && trial.end === null && trial.retest !== null;
}

/** Ends an attempt whose change is not in the project, so that no run shows anything of it. */
export function endUnapplied(trial: Trial, end: AttemptEnd): void {
  [trial.end, trial.retest, trial.isReady] = [end, null, false];
}

/** Ends an attempt as something else has decided it. */
export function endAs(trial: Trial, { end, ...record }: Attempt): void {
  trial.record = record;
  endUnapplied(trial, end);
}

/** Returns an attempt that has ended as reports show it. */
export function attemptOf({ record, end }: Trial): Attempt {
  if (!end) throw new Error('An attempt goes on');
  return { ...record, end };
}

interface OfCause {
  readonly cause: Cause;
  /** Id of the attempt in the store; null for one that it does not have. */
  readonly id: string | null;
  readonly attempt: Attempt;
}

/** Stores that work on a cause has begun; returns the id of the attempt. */
export async function storeStart(
  { store, folder }: Pick<Session, 'store' | 'folder'>,
  { id: causeId, lead }: Cause,
  attempt: Pick<AttemptStart, 'n' | 'agent' | 'runner'>,
): Promise<string> {
  const id = randomUUID();
  const { diagnosis } = lead;
  const signature = rememberedAs(lead);
  const { category } = diagnosis;
  await store.startAttempt({ id, runId: folder.runId, causeId, signature, category, ...attempt });
  return id;
}

/**
 * Handles the end of an attempt. A green one is decided by its proof, and so is one that led to another
 * error: by the proof of the fix for that one (HN-1). Any other one is decided immediately.
 */
export async function attemptTried(session: Session, tried: OfCause): Promise<void> {
  const { cause, attempt } = tried;
  if (!isKept(attempt)) return attemptDecided(session, tried);
  session.bus.emit({ type: 'attempt.held', causeId: cause.id, attempt });
  // From now on it is paid for, whatever becomes of this run (ME-8).
  await session.hooks.attemptEnded?.(cause, attempt, 'green-once');
}

/** Finishes an attempt: it is stored first, then its change is marked as decided if it is kept, and only then is it announced. */
export async function attemptDecided(
  { store, workspace, bus, hooks }: Session,
  { cause, id, attempt }: OfCause,
): Promise<void> {
  const causeId = cause.id;
  if (id !== null) await store.finishAttempt(id, attempt);
  if (isKept(attempt) && attempt.change !== null) await workspace.markDecided([attempt.change]);
  bus.emit({ type: 'attempt.judged', causeId, attempt });
  await hooks.attemptEnded?.(cause, attempt, 'proven');
}

/** Reverts changes for good; returns the ids of changes that were built on them and had to be reverted with them. */
export async function revertChanges(
  { workspace, bus }: Pick<Session, 'workspace' | 'bus'>,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { leftAlone, lost } = await workspace.revert(ids);
  if (leftAlone.length > 0) {
    const message = `These files were not reverted, because they changed again after the agent: ${leftAlone.join(', ')}`;
    bus.emit({ type: 'run.warning', message });
  }
  return lost;
}
