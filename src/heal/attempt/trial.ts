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
import type { CollectedChange } from '../../workspace/workspace.js';
import type { PreparedPatch } from '../hooks.js';
import { storedSignature } from '../stored-signature.js';
import type { Retest } from '../retest.js';
import type { Session } from '../session.js';

/** An attempt at a cause. Each step from its start to its end fills in further fields. */
export interface Trial {
  /** Its id in the store, where it stays unfinished until its fix is proven. */
  readonly id: string;
  /** The attempt as in reports, without its end. */
  record: PendingAttempt;
  /** The work of an agent or of a proposal; null if there is none. */
  work: CollectedChange | null;
  /** The change that may enter the project; null if there is nothing to apply. */
  change: Change | null;
  /** The agent program's own explanation of a failure, or null. */
  because: string | null;
  /** True if the agent's program denied it every edit. */
  isDenied: boolean;
  /** The agent's whole change, if the guard cut something that a person may accept; otherwise null. */
  whole: PreparedPatch | null;
  /** Lines that a reviewer should look at. */
  notes: readonly Note[];
  /** True if it can be tried in the project, perhaps together with other causes' attempts. */
  isReady: boolean;
  /** The last run with it; null if there was none, or if its result no longer applies. */
  retest: Retest | null;
  end: AttemptEnd | null;
}

export async function startTrial(
  session: Pick<Session, 'store' | 'folder'>,
  cause: Cause,
  { n, agent, runner }: Pick<AttemptStart, 'n' | 'agent' | 'runner'>,
): Promise<Trial> {
  return {
    id: await storeAttemptStart(session, cause, { n, agent, runner }),
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

/** True if the fix of an attempt is in the project, and was green in a run together with other causes' fixes. */
export function isGreenWithOthers(trial: Trial | null): boolean {
  return trial !== null && trial.end === null && trial.retest !== null;
}

/** Ends an attempt whose change is not in the project, so that no run has tested it. */
export function endWithoutRun(trial: Trial, end: AttemptEnd): void {
  [trial.end, trial.retest, trial.isReady] = [end, null, false];
}

/** Ends a trial with the record and end of an attempt that was proven for a person's review. */
export function endWithProvenAttempt(trial: Trial, { end, ...record }: Attempt): void {
  trial.record = record;
  endWithoutRun(trial, end);
}

/** Returns an ended attempt in the form for reports. */
export function toAttempt({ record, end }: Trial): Attempt {
  if (!end) throw new Error('The attempt has not ended');
  return { ...record, end };
}

interface CauseAttempt {
  readonly cause: Cause;
  /** The id of the attempt in the store; null if it is not stored. */
  readonly id: string | null;
  readonly attempt: Attempt;
}

export async function storeAttemptStart(
  { store, folder }: Pick<Session, 'store' | 'folder'>,
  { id: causeId, lead }: Cause,
  attempt: Pick<AttemptStart, 'n' | 'agent' | 'runner'>,
): Promise<string> {
  const id = randomUUID();
  const { diagnosis } = lead;
  const signature = storedSignature(lead);
  const { category } = diagnosis;
  await store.startAttempt({ id, runId: folder.runId, causeId, signature, category, ...attempt });
  return id;
}

/**
 * Handles the end of an attempt. The proof decides a green one, and also one that revealed another error, by the proof of the fix for that error
 * (HN-1). Any other attempt is decided now.
 */
export async function recordTriedAttempt(session: Session, triedAttempt: CauseAttempt): Promise<void> {
  const { cause, attempt } = triedAttempt;
  if (!isKept(attempt)) return recordDecidedAttempt(session, triedAttempt);
  session.bus.emit({ type: 'attempt.held', causeId: cause.id, attempt });
  // Remembers the paid fix even if the run is killed (ME-8).
  await session.hooks.onAttemptEnd?.(cause, attempt, 'green-once');
}

/** Finishes an attempt: first stores it, then marks its change as decided if it is kept, and only then announces it. */
export async function recordDecidedAttempt(
  { store, workspace, bus, hooks }: Session,
  { cause, id, attempt }: CauseAttempt,
): Promise<void> {
  const causeId = cause.id;
  if (id !== null) await store.finishAttempt(id, attempt);
  if (isKept(attempt) && attempt.change !== null) await workspace.markDecided([attempt.change]);
  bus.emit({ type: 'attempt.judged', causeId, attempt });
  await hooks.onAttemptEnd?.(cause, attempt, 'proven');
}

/** Reverts changes for good; returns the ids of changes that were built on them and had to be reverted with them. */
export async function revertChanges(
  { workspace, bus }: Pick<Session, 'workspace' | 'bus'>,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { leftAlone, lost } = await workspace.revert(ids);
  if (leftAlone.length > 0) {
    const message = `These files were not reverted, because they have changed since the agent edited them: ${leftAlone.join(', ')}`;
    bus.emit({ type: 'run.warning', message });
  }
  return lost;
}
