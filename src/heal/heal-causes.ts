import { isDeepStrictEqual } from 'node:util';
import type { BlameSearches } from './hooks.js';
import { isResolved } from '../model/verdict.js';
import type { Blame } from '../model/blame.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { failureKey } from '../model/failure.js';
import { isGreen } from './judge.js';
import type { WorkPlace } from './attempt/start-agent.js';
import type { Patch, Shared } from './attempt/try-fix.js';
import { revertChanges } from './attempt/end-attempt.js';
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
import { Agents, Tree } from './schedule.js';
import type { Session } from './session.js';

/** A cause in progress. */
interface UnderWay {
  readonly cause: Cause;
  /** Stops its agent, with the reason. */
  readonly stop: AbortController;
  /** The copy in which its last agent worked, or null. */
  copy: number | null;
  /** What is ready to be tried, or is being tried together with the changes of others. */
  patch: (Patch & { shared?: Shared }) | null;
}

/** The causes of one round, and the schedule by which they are healed. */
interface Round {
  readonly progress: Progress;
  /** Held by whoever heals a cause, except while it awaits an agent or the end of a wait, and by the search for changes to blame. */
  readonly tree: Tree;
  readonly agents: Agents;
  /** Held from the question whether the limits let an agent start until it is counted. */
  readonly start: Tree;
  readonly searches: BlameSearches | null;
  /** The changes that broke causes, as far as they are known, by cause. */
  readonly blames: Map<string, Blame>;
  isSearching: boolean;
  /** In the order of the causes. */
  readonly underWay: Set<UnderWay>;
  /** Called when the next cause has ended. */
  readonly onEnd: (() => void)[];
  /** Stops all of them, because self-heal failed in one: the run ends with its error. */
  readonly failed: AbortController;
  /** Failures revealed in the meantime, by key. */
  readonly found: Map<string, DiagnosedFailure>;
}

/** What the tree is given to first. */
const rank = { judged: 0, patch: 1, start: 2, search: 3 };

/**
 * Heals the causes of a round: one tree, and `limits.parallel` agents, each in its own copy. Whenever the tree is free, it is given to the most
 * useful task: what agents have brought is tried, all that is ready in one run; causes are made ready for an agent; changes to blame are searched.
 * Whenever an agent is free, it takes the next cause. Adds failures that are revealed in the meantime to `found`.
 */
export async function healCauses(
  progress: Progress,
  causes: readonly Cause[],
  { found, searches }: Pick<Round, 'found' | 'searches'>,
): Promise<void> {
  const { session } = progress;
  const round: Round = {
    progress,
    tree: new Tree(),
    agents: new Agents(atOnce(session, causes)),
    start: new Tree(),
    searches,
    blames: new Map(causes.flatMap(({ id, blame }) => (blame ? [[id, blame]] : []))),
    isSearching: false,
    underWay: new Set(),
    onEnd: [],
    failed: new AbortController(),
    found,
  };
  const ended = await Promise.allSettled(causes.map((cause) => healWhenReady(round, cause)));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  if (round.failed.signal.aborted) throw round.failed.signal.reason;
}

/** Returns how many of these causes have an agent at the same time. */
export function atOnce({ settings }: Session, causes: readonly Cause[]): number {
  // The suite's own failure is healed alone: until it is fixed, nothing can be observed about the others.
  const isSuite = causes.some(({ lead }) => lead.failure.scope === 'suite');
  return isSuite ? 1 : Math.max(1, Math.min(settings.limits.parallel, causes.length));
}

/** Goes on with the search while an agent is at work and nothing more useful is to be done with the tree. */
async function searchOn(round: Round): Promise<void> {
  const { searches, tree, agents, failed, progress } = round;
  if (!searches || round.isSearching) return;
  round.isSearching = true;
  const isUseful = () => agents.atWork > 0 && !failed.signal.aborted && !progress.session.signal.aborted;
  // With a fix in the project, a test that is not known to be red may be green because of that.
  const isWanted = (causeId: string) =>
    [...round.underWay].some(
      ({ cause, patch }) => cause.id === causeId && !patch?.shared && isRed(round, cause),
    );
  let goesOn = true;
  while (goesOn && isUseful() && [...round.underWay].some(({ cause }) => searches.isOpen(cause.id))) {
    await tree.enter(() => rank.search);
    try {
      goesOn = isUseful() && (await searches.next(isWanted));
      const causes = [...round.underWay].map(({ cause }) => cause);
      if (goesOn) await keepBlames(round, causes);
    } finally {
      tree.leave();
    }
  }
  round.isSearching = false;
}

function isRed({ progress }: Round, { lead }: Cause): boolean {
  return progress.session.observations.isRed(lead);
}

/** Keeps what the searches that have ended have found. */
async function keepBlames(round: Round, causes: readonly Cause[]): Promise<void> {
  const { searches, blames } = round;
  for (const { id } of causes) {
    if (!searches || searches.isOpen(id) || blames.has(id)) continue;
    const found = await searches.of(id);
    if (found) blame(round, id, found);
  }
}

function blame({ blames, progress }: Round, causeId: string, found: Blame): void {
  blames.set(causeId, found);
  const cause = progress.causes.get(causeId);
  if (cause) progress.causes.set(causeId, { ...cause, blame: found });
}

function informed({ blames }: Round, cause: Cause): Cause {
  const found = blames.get(cause.id);
  return found && found !== cause.blame ? { ...cause, blame: found } : cause;
}

/** Heals a cause, and after another one that the same lines broke: the fix of that one is likely to heal it, too (HL-6). */
async function healWhenReady(round: Round, found: Cause): Promise<void> {
  const { progress, underWay, tree, failed, onEnd } = round;
  const cause = informed(round, found);
  while (isBlamedAlike(cause, underWay)) await new Promise<void>((wake) => void onEnd.push(wake));
  const one: UnderWay = { cause, stop: new AbortController(), copy: null, patch: null };
  underWay.add(one);
  await tree.enter(() => rank.start);
  try {
    if (!goesOn(progress) || failed.signal.aborted) return;
    const left = await unhealedYet(progress, await blamedFirst(round, cause));
    if (!left) return;
    if (left.members !== cause.members) tellCause(progress, left);
    for (const failure of await healOne(round, one, left))
      round.found.set(failureKey(failure.failure), failure);
  } catch (error) {
    failed.abort();
    throw error;
  } finally {
    underWay.delete(one);
    tree.leave();
    for (const wake of onEnd.splice(0)) wake();
  }
}

/** Whether a cause is for an agent at all depends on what broke it, if it is worded as if it were not (CS-11): its search comes to its end first. */
async function blamedFirst(round: Round, cause: Cause): Promise<Cause> {
  return cause.lead.diagnosis.retry === 'code_error' ? cause : searched(round, cause);
}

/** Brings the search for the change that broke a cause to its end: with the tree, before a person is asked about the cause. */
async function searched(round: Round, cause: Cause): Promise<Cause> {
  const { searches, progress } = round;
  if (!searches || !isRed(round, cause)) return informed(round, cause);
  const isOpen = () => searches.isOpen(cause.id) && !progress.session.signal.aborted;
  while (isOpen() && (await searches.next((id) => id === cause.id)));
  await keepBlames(round, [cause]);
  return informed(round, cause);
}

/** Whether the same lines broke a cause in progress. */
function isBlamedAlike({ blame }: Cause, underWay: Round['underWay']): boolean {
  const linesOf = (blamed: Blame) => blamed.hunks.map(({ file, line }) => `${file}:${line}`).sort();
  return [...underWay].some(
    ({ cause }) =>
      blame?.isMinimal && cause.blame?.isMinimal && isDeepStrictEqual(linesOf(blame), linesOf(cause.blame)),
  );
}

/** Returns the failures that the cause leaves behind. */
async function healOne(round: Round, one: UnderWay, cause: Cause): Promise<readonly DiagnosedFailure[]> {
  const { progress, underWay, failed } = round;
  const { session } = progress;
  const ended = await healCause(session, cause, {
    earlier: earlierSignatures(progress, cause),
    chain: revealing(progress, cause).flatMap((other) => keptAttempts(progress, other)),
    turn: turnOf(round, one),
  });
  underWay.delete(one);
  if (failed.signal.aborted) return [];
  if (one.stop.signal.aborted && !session.signal.aborted) return healedByAnother(progress, ended);
  // Healing stopped before anything was tried.
  if (ended.end.verdict === 'interrupted' && ended.attempts.length === 0) return [];
  const left = await applyResult(progress, ended);
  stopHealed(round, ended);
  return left.map(([, failure]) => failure);
}

/** How many failures of other causes a re-run includes: with more agents, more of them would cost time with every fix. */
const MAX_BESIDE = 3;

function turnOf(round: Round, one: UnderWay): Turn {
  const { progress, tree, agents, start, failed } = round;
  const { session } = progress;
  const signal = AbortSignal.any([session.signal, failed.signal, one.stop.signal]);
  const wait = async <T>(until: () => Promise<T>, how = () => rank.start) => {
    tree.leave();
    try {
      return await until();
    } finally {
      await tree.enter(how);
    }
  };
  const brief = async <T>(copy: number, work: (at: WorkPlace) => Promise<T>) => {
    const at = { copy, signal, isOther: one.copy !== null && one.copy !== copy };
    one.copy = copy;
    // What is tried in the project now is no part of what an agent starts from.
    if (tree.isHeld && session.workspace.isMade(copy)) return work({ ...at, isTried: true });
    await tree.enter(() => rank.patch);
    try {
      return await work(at);
    } finally {
      tree.leave();
    }
  };
  return {
    get copy() {
      return one.copy;
    },
    signal,
    mayGoOn: () => goesOn(progress),
    informed: (cause) => informed(round, cause),
    searched: (cause) => searched(round, cause),
    beside: () => besides(round, one),
    wait,
    isReady: (patch) => {
      one.patch = patch;
    },
    together: () =>
      together(round, one, () =>
        wait(
          async () => undefined,
          () => rank.patch,
        ),
      ),
    agent: async (work) => {
      const made = await wait(
        async () => {
          const copy = await agents.take(one.copy, signal);
          if (copy === null) return null;
          await start.enter(() => 0);
          let isStarting = true;
          const isStarted = () => {
            if (isStarting) start.leave();
            isStarting = false;
          };
          try {
            return await work({
              at: { copy, signal },
              brief: async (task) => {
                const briefed = await brief(copy, task);
                isStarted();
                void searchOn(round).catch((error: unknown) => failed.abort(error));
                return briefed;
              },
            });
          } finally {
            isStarted();
            agents.give(copy);
            const text = 'finished; waiting for its turn to apply the change';
            if (tree.isHeld) session.bus.emit({ type: 'agent.activity', causeId: one.cause.id, text });
          }
        },
        () => (one.patch?.shared ? rank.judged : rank.patch),
      );
      if (!signal.aborted && !one.patch?.shared) stopIfGreen(session, one);
      return made;
    },
  };
}

/**
 * Tries the changes of all causes that have one ready, in one run, in which each is judged by its own tests. Those that do not hold in company are
 * taken out, and tried alone once the others have been judged. Returns what the run showed for one of them; null if it is to be tried alone.
 */
async function together(
  { progress, underWay }: Round,
  own: UnderWay,
  letOthersGoOn: () => Promise<unknown>,
): Promise<Shared | null> {
  const { session } = progress;
  const { patch } = own;
  own.patch = null;
  const isStopped = session.signal.aborted || own.stop.signal.aborted;
  if (!patch || patch.shared || isStopped) return patch?.shared ?? null;
  const others = [...underWay].filter(
    (one) => one !== own && one.patch && !one.patch.shared && !one.stop.signal.aborted,
  );
  if (others.length === 0) return null;
  const tried: { readonly one: UnderWay; readonly patch: Patch; readonly applied: Omit<Shared, 'seen'> }[] =
    [];
  for (const one of [own, ...others]) {
    const ready = one === own ? patch : one.patch;
    if (!ready) continue;
    const changed = await ready.changed();
    const applied = await session.workspace.apply(ready.change);
    one.patch = null;
    if (applied.kind === 'applied')
      tried.push({ one, patch: ready, applied: { change: applied.change, changed } });
  }
  const failures = tried.flatMap((one) => one.patch.failures);
  const seen = await retest(session, { failures, purpose: 'retest', causeId: null });
  const out: string[] = [];
  for (const { patch: ready, applied } of tried)
    if (session.signal.aborted || !(await ready.holds({ ...applied, seen }))) out.push(applied.change.id);
  const lost = out.length > 0 ? await revertChanges(session, out) : [];
  const held = tried.filter(({ applied }) => ![...out, ...lost].includes(applied.change.id));
  for (const { one, patch: ready, applied } of held) one.patch = { ...ready, shared: { ...applied, seen } };
  const shared = own.patch as UnderWay['patch'];
  own.patch = null;
  if (shared?.shared) return shared.shared;
  await letOthersGoOn();
  return null;
}

/**
 * A cause's re-runs include those that the same fix may heal, or that nothing is known about for the longest time, so that one fix of several causes is
 * noticed early. For the last cause, they are the failures revealed in the meantime, which the same run then confirms.
 */
function besides(round: Round, own: UnderWay): readonly DiagnosedFailure[] {
  const { underWay, found, progress, agents } = round;
  const { observations } = progress.session;
  const others = [...underWay].filter((one) => one !== own && !one.patch?.shared);
  const leads = others
    .map(({ cause }) => cause.lead)
    .toSorted((a, b) => observations.latestRun(a) - observations.latestRun(b));
  if (leads.length > 0) return leads.slice(0, Math.min(MAX_BESIDE, agents.count));
  return [...found.values()].filter(({ failure }) => failure.scope === 'test');
}

/** Stops the work on a cause if another fix has healed it while its agent was working, as far as runs have shown. */
function stopIfGreen({ observations }: Session, { cause: { lead }, stop }: UnderWay): void {
  if (observations.isGreen(lead)) stop.abort('its test is green with the fix of another cause');
}

/** A kept fix may have healed what other agents are working on. One root cause gets one agent, so those agents are stopped (HL-6). */
function stopHealed({ progress, underWay }: Round, { cause, lastRetest }: TriedCause): void {
  const { session } = progress;
  if (keptAttempts(progress, cause).length === 0 || session.signal.aborted) return;
  for (const one of underWay) {
    const seen = lastRetest?.observe(one.cause.lead);
    const isInCompany = one.patch?.shared?.seen === lastRetest;
    if (seen && isGreen(seen) && !isInCompany)
      one.stop.abort(`its test is green with the fix of ${cause.id}`);
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
