import { isDeepStrictEqual } from 'node:util';
import { Mutex } from 'async-mutex';
import { isResolved } from '../core/verdict.js';
import type { Blame } from '../core/blame.js';
import type { Cause, DiagnosedFailure } from '../core/cause.js';
import { failureKey } from '../core/failure.js';
import { isGreen } from '../core/judge.js';
import { applyResult, unhealedYet } from './apply-result.js';
import {
  endCause,
  goesOn,
  keptAttempts,
  keysOf,
  type Progress,
  revealing,
  tellCause,
  verdictOf,
} from './progress.js';
import { healCause, type TriedCause, type Turn } from './heal-cause.js';
import { retest } from './retest.js';
import type { Session } from './session.js';

/** A cause in progress: its agent may be at work while other causes hold the project's tree. */
interface UnderWay {
  readonly cause: Cause;
  /** Stops its agent, with the reason. */
  readonly stop: AbortController;
  /** When its agent ended, if it is waiting for the tree: the number of agents that had ended before. */
  inLine: number;
}

/** The causes of one round. */
interface Round {
  readonly progress: Progress;
  /** Held by whoever heals a cause, except while it awaits an agent or the end of a wait. */
  readonly tree: Mutex;
  /** Causes not started yet, in order. */
  readonly waiting: Cause[];
  readonly underWay: Set<UnderWay>;
  agentsEnded: number;
  /** Stops all of them, because self-heal failed in one: the run ends with its error. */
  readonly failed: AbortController;
  /** Failures revealed in the meantime, by key. */
  readonly found: Map<string, DiagnosedFailure>;
}

/**
 * Heals the causes of a round, at most `limits.parallel` at a time, each with an agent in its own copy. Everything except the agents'
 * work and the waits happens one cause at a time, in the order in which the agents end; without parallelism, that is the order of the
 * causes. Adds failures that are revealed in the meantime to `found`.
 */
export async function healCauses(
  progress: Progress,
  causes: readonly Cause[],
  found: Round['found'],
): Promise<void> {
  const { session } = progress;
  const [waiting, failed, tree] = [[...causes], new AbortController(), new Mutex()];
  const round: Round = { found, progress, tree, waiting, underWay: new Set(), agentsEnded: 0, failed };
  const inCopy = (copy: number) => tree.runExclusive(() => healOneByOne(round, copy));
  const ended = await Promise.allSettled(
    Array.from({ length: atOnce(session, causes) }, (_, copy) => inCopy(copy)),
  );
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/** Returns how many of these causes are healed at the same time. */
export function atOnce({ settings }: Session, causes: readonly Cause[]): number {
  // The suite's own failure is healed alone: until it is fixed, nothing can be observed about the others.
  const isSuite = causes.some(({ lead }) => lead.failure.scope === 'suite');
  return isSuite ? 1 : Math.min(settings.limits.parallel, causes.length);
}

async function healOneByOne(round: Round, copy: number): Promise<void> {
  const { progress, waiting, underWay, found, failed } = round;
  try {
    while (goesOn(progress) && !failed.signal.aborted) {
      const next = waiting.find((one) => !isBlamedAlike(one, underWay));
      // Causes that wait for another one are left to whoever heals that one.
      if (!next) return;
      waiting.splice(waiting.indexOf(next), 1);
      const cause = await unhealedYet(progress, next);
      if (!cause) continue;
      if (cause !== next) tellCause(progress, cause);
      const one: UnderWay = { cause, stop: new AbortController(), inLine: Infinity };
      underWay.add(one);
      const left = await healOne(round, one, copy);
      for (const failure of left) found.set(failureKey(failure.failure), failure);
    }
  } catch (error) {
    failed.abort();
    throw error;
  }
}

/** Whether the same lines broke a cause in progress, whose fix is then likely to heal this one, too (HL-6). */
function isBlamedAlike({ blame }: Cause, underWay: Round['underWay']): boolean {
  const linesOf = (blamed: Blame) => blamed.hunks.map(({ file, line }) => `${file}:${line}`).sort();
  return [...underWay].some(
    ({ cause }) =>
      blame?.isMinimal && cause.blame?.isMinimal && isDeepStrictEqual(linesOf(blame), linesOf(cause.blame)),
  );
}

/** Returns the failures that the cause leaves behind. */
async function healOne(round: Round, one: UnderWay, copy: number): Promise<readonly DiagnosedFailure[]> {
  const { progress, underWay, failed } = round;
  const { session } = progress;
  const ended = await healCause(session, one.cause, {
    earlier: earlierSignatures(progress, one.cause),
    chain: revealing(progress, one.cause).flatMap((other) => keptAttempts(progress, other)),
    turn: turnOf(round, one, copy),
  });
  underWay.delete(one);
  if (failed.signal.aborted) return [];
  if (one.stop.signal.aborted && !session.signal.aborted) return healedByAnother(progress, ended);
  const left = await applyResult(progress, ended);
  stopHealed(round, ended);
  return left.map(([, failure]) => failure);
}

/** How many failures of other causes a re-run includes: with more agents, more of them would cost time with every fix. */
const MAX_BESIDE = 3;

function turnOf(round: Round, one: UnderWay, copy: number): Turn {
  const { progress, tree, failed } = round;
  const { session } = progress;
  const signal = AbortSignal.any([session.signal, failed.signal, one.stop.signal]);
  const wait = async <T>(until: () => Promise<T>) => {
    tree.release();
    try {
      return await until();
    } finally {
      await tree.acquire();
    }
  };
  return {
    copy,
    signal,
    mayGoOn: () => goesOn(progress),
    beside: () => besides(round, one),
    wait,
    agent: async (work) => {
      const { id: causeId } = one.cause;
      const ended = await wait(async () => {
        const made = await work();
        one.inLine = round.agentsEnded += 1;
        const text = 'finished; waiting for its turn to apply the change';
        if (tree.isLocked()) session.bus.emit({ type: 'agent.activity', causeId, text });
        return made;
      });
      one.inLine = Infinity;
      if (!signal.aborted) await stopIfGreen(session, one);
      return ended;
    },
  };
}

/**
 * A cause's re-runs include what is healed next: the next cause, and that whose agent has ended first, so that it is known which fix healed them
 * (HN-5). The others, in turn, show early whether one fix heals several causes. For the last cause, they are the failures revealed in the
 * meantime, which the same run then confirms.
 */
function besides(round: Round, one: UnderWay): readonly DiagnosedFailure[] {
  const { waiting, underWay, found, progress } = round;
  const { observations } = progress.session;
  const others = [...underWay].filter((other) => other !== one);
  const inTurn = others.toSorted(
    (a, b) =>
      a.inLine - b.inLine || observations.latestRun(a.cause.lead) - observations.latestRun(b.cause.lead),
  );
  const leads = [...waiting.slice(0, 1), ...inTurn.map(({ cause }) => cause)].map(({ lead }) => lead);
  if (leads.length > 0) return leads.slice(0, MAX_BESIDE);
  return [...found.values()].filter(({ failure }) => failure.scope === 'test');
}

/** Stops the work on a cause if another fix has healed it while its agent was working. */
async function stopIfGreen(session: Session, { cause, stop }: UnderWay): Promise<void> {
  const { lead, id } = cause;
  if (session.observations.isRed(lead)) return;
  const seen = await retest(session, { failures: [lead], purpose: 'shared-fix', causeId: id });
  if (isGreen(seen.observe(lead))) stop.abort('its test is green with the fix of another cause');
}

/** A kept fix may have healed what other agents are working on. One root cause gets one agent, so those agents are stopped (HL-6). */
function stopHealed({ progress, underWay }: Round, { cause, lastRetest }: TriedCause): void {
  const { session } = progress;
  if (keptAttempts(progress, cause).length === 0 || session.signal.aborted) return;
  for (const one of underWay) {
    const seen = lastRetest?.observe(one.cause.lead);
    if (seen && isGreen(seen)) one.stop.abort(`its test is green with the fix of ${cause.id}`);
  }
}

/** Ends a cause whose agent was stopped because another fix made its test green; its tests that are still red get causes of their own. */
async function healedByAnother(
  progress: Progress,
  { cause }: TriedCause,
): Promise<readonly DiagnosedFailure[]> {
  const left = await unhealedYet(progress, cause);
  if (!left) return [];
  const reason = 'its first test was green with the fix of another cause';
  await endCause(progress, cause, { verdict: 'superseded', reason });
  return left.members;
}

/** Returns the signatures of resolved causes that the same tests had earlier in this run. */
export function earlierSignatures(progress: Progress, cause: Cause): Set<string> {
  const keys = keysOf(cause);
  const members = [...progress.causes.values()].flatMap((one) => {
    const verdict = one.id === cause.id ? null : verdictOf(progress, one);
    return verdict !== null && isResolved(verdict) ? one.members : [];
  });
  const same = members.filter((one) => keys.has(failureKey(one.failure)) || one.failure.scope === 'suite');
  return new Set(same.map(({ signature }) => signature));
}
