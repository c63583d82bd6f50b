import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { failureKey } from '../model/failure.js';
import { isResolved } from '../model/verdict.js';
import type { FailureHistory } from '../store/store.js';
import { applyResult, dropTestsHealedByOthers } from './apply-result.js';
import { listProposals } from './attempt/proposed.js';
import { isGreenWithOthers } from './attempt/trial.js';
import type { CauseWork } from './cause-work.js';
import { healCause } from './heal-cause.js';
import type { BlameSearches } from './hooks.js';
import { isGreen } from './judge.js';
import {
  endCause,
  mayStartMoreWork,
  listKeptAttempts,
  collectKeys,
  type Progress,
  listRevealingCauses,
  announceCause,
  getCurrentVerdict,
} from './progress.js';
import { Schedule } from './schedule.js';
import type { Session } from './session.js';
import { storedSignature } from './stored-signature.js';

/**
 * Heals the causes of a round with one working tree and `limits.parallel` agents, each in its own copy. Whenever the tree is free, the most useful
 * waiting task gets it: trying all ready fixes in one run, preparing a cause for an agent, or searching for changes to blame. A free agent takes the
 * next cause. Adds newly revealed failures to `revealed`.
 */
export async function healCauses(
  progress: Progress,
  causes: readonly Cause[],
  {
    revealed,
    searches,
  }: { readonly revealed: Map<string, DiagnosedFailure>; readonly searches: BlameSearches | null },
): Promise<void> {
  const agents = countParallelAgents(progress.session, causes);
  const schedule = new Schedule(progress, { agents, revealed, searches });
  const all = await Promise.all(causes.map((cause) => createWork(progress, cause)));
  await Promise.all(all.map((work) => schedule.run(work, () => healInRound(schedule, work))));
  if (schedule.failure) throw schedule.failure.error;
}

/** Returns how many agents work on these causes at the same time. */
export function countParallelAgents({ settings }: Session, causes: readonly Cause[]): number {
  // The suite's own failure is healed alone: until it is fixed, no test can run.
  const isSuite = causes.some(({ lead }) => lead.failure.scope === 'suite');
  return isSuite ? 1 : Math.max(1, Math.min(settings.limits.parallel, causes.length));
}

/** Heals a cause again, alone, because its fix did not hold in the proof. Returns the failures that are still red, by key. */
export async function repeatHealing(
  progress: Progress,
  tried: CauseWork,
): Promise<ReadonlyMap<string, DiagnosedFailure>> {
  const revealed = new Map<string, DiagnosedFailure>();
  const schedule = new Schedule(progress, { agents: progress.session.settings.limits.parallel });
  const earlierSignatures = listEarlierSignatures(progress, tried.cause);
  const work = {
    ...tried,
    ...createSignals(progress.session),
    revealingAttempts: [],
    earlierSignatures,
    end: null,
    hasWaited: false,
  };
  await schedule.run(work, async () => {
    await healCause(schedule, work);
    for (const [key, failure] of await applyResult(progress, work)) revealed.set(key, failure);
  });
  if (schedule.failure) throw schedule.failure.error;
  return revealed;
}

export async function createWork(progress: Progress, cause: Cause): Promise<CauseWork> {
  const { session } = progress;
  const signature = storedSignature(cause.lead);
  const memory = dropUnrelatedFix(cause, await session.store.recordFailure(signature, session.folder.runId));
  return {
    cause,
    memory,
    revealingAttempts: listRevealingCauses(progress, cause).flatMap((other) =>
      listKeptAttempts(progress, other),
    ),
    earlierSignatures: listEarlierSignatures(progress, cause),
    proposals: listProposals(session, { cause, memory }),
    hasProposals: true,
    attempts: [],
    trial: null,
    hasWaited: true,
    copy: null,
    ...createSignals(session),
    end: null,
  };
}

function createSignals({ signal }: Session): Pick<CauseWork, 'stop' | 'signal'> {
  const stop = new AbortController();
  return { stop, signal: AbortSignal.any([signal, stop.signal]) };
}

/** Drops a remembered fix that changed no file or was for another class, because equal messages can have different reasons. */
function dropUnrelatedFix({ lead }: Cause, memory: FailureHistory): FailureHistory {
  const { fix } = memory;
  const isFix = fix !== null && fix.files.length > 0 && fix.category === lead.diagnosis.category;
  return isFix ? memory : { ...memory, fix: null };
}

/** Returns the signatures of resolved causes that the same tests had earlier in this run. */
function listEarlierSignatures(progress: Progress, cause: Cause): Set<string> {
  const keys = collectKeys(cause);
  const members = [...progress.causes.values()].flatMap((other) => {
    const verdict = other.id === cause.id ? null : getCurrentVerdict(progress, other);
    return verdict !== null && isResolved(verdict) ? other.members : [];
  });
  const related = members.filter(({ failure }) => keys.has(failureKey(failure)) || failure.scope === 'suite');
  return new Set(related.map(({ signature }) => signature));
}

async function healInRound(schedule: Schedule, work: CauseWork): Promise<void> {
  const { progress, revealed, active } = schedule;
  if (!mayStartMoreWork(progress)) return;
  // If the failure's text says that no agent can help, the change that broke it decides whether one can (CS-11), unless its escalation is open.
  const isDecided = work.cause.lead.diagnosis.retry === 'code_error' || work.memory.openEscalation !== null;
  const cause = isDecided ? schedule.addFoundBlame(work.cause) : await schedule.finishBlameSearch(work.cause);
  const unhealed = await dropTestsHealedByOthers(progress, cause);
  if (!unhealed) return;
  if (unhealed.members !== cause.members) announceCause(progress, unhealed);
  work.cause = unhealed;
  await healCause(schedule, work);
  active.delete(work);
  if (schedule.failure) return;
  for (const failure of await recordEnd(schedule, work)) revealed.set(failureKey(failure.failure), failure);
}

/** Records how healing a cause ended; returns the failures that are still red. */
async function recordEnd(schedule: Schedule, work: CauseWork): Promise<readonly DiagnosedFailure[]> {
  const { progress } = schedule;
  if (work.stop.signal.aborted && !progress.session.signal.aborted)
    return endHealedByAnother(progress, work.cause);
  // Healing stopped before the first attempt.
  if (work.end?.verdict === 'interrupted' && work.attempts.length === 0) return [];
  const remaining = await applyResult(progress, work);
  stopHealedAgents(schedule, work);
  return remaining.map(([, failure]) => failure);
}

/** Stops agents at work on causes that this fix has healed: one root cause gets one agent (HL-6). */
function stopHealedAgents({ progress, active }: Schedule, { cause, trial }: CauseWork): void {
  if (listKeptAttempts(progress, cause).length === 0 || progress.session.signal.aborted) return;
  for (const other of active) {
    const observation = trial?.retest?.observe(other.cause.lead);
    const isTriedTogether = isGreenWithOthers(other.trial) && other.trial?.retest === trial?.retest;
    if (observation && isGreen(observation) && !isTriedTogether)
      other.stop.abort(`its test is green with the fix for ${cause.id}`);
  }
}

/** Ends a cause whose agent was stopped because another fix turned its test green; tests that are still red get new causes. */
async function endHealedByAnother(progress: Progress, cause: Cause): Promise<readonly DiagnosedFailure[]> {
  const unhealed = await dropTestsHealedByOthers(progress, cause);
  if (!unhealed) return [];
  const reason = 'its first test was green with the fix for another cause';
  await endCause(progress, cause, { verdict: 'superseded', reason });
  return unhealed.members;
}
