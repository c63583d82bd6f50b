import { findDecidingResponse } from '../diagnose/relevant-requests.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import type { AgentSlot } from './attempt/start-agent.js';
import { isGreenWithOthers } from './attempt/trial.js';
import type { CauseWork } from './cause-work.js';
import type { BlameSearches } from './hooks.js';
import { listCauseChanges, listKeptCauses, type Progress } from './progress.js';
import { retest } from './retest.js';

/** The order in which waiting tasks get the tree. */
const ranks = { judged: 0, fix: 1, start: 2, search: 3 };

/** The maximum number of other causes' failures in a re-run, because each of them costs time with every fix. */
const MAX_OTHER_FAILURES = 3;

/** The options that all causes of a schedule share. */
interface ScheduleOptions {
  /** How many agents may work at the same time. */
  readonly agents: number;
  /** The searches for the changes that broke the causes, if there are any. */
  readonly searches?: BlameSearches | null;
  /** Failures revealed in the meantime, by key. */
  readonly revealed?: Map<string, DiagnosedFailure>;
}

/**
 * Schedules the healing of several causes. Each task holds the working tree except while it waits for an agent or for time to pass. Whenever the tree is
 * free, the most useful waiting task gets it. Each agent works in its own copy.
 */
export class Schedule {
  readonly progress: Progress;
  readonly revealed: Map<string, DiagnosedFailure>;
  /** The work on all causes that are being healed, in their order. */
  readonly active = new Set<CauseWork>();
  /** The first error that a task threw, with which the run ends; null if there is none. */
  failure: { readonly error: unknown } | null = null;
  readonly #tree = new PriorityLock();
  readonly #agents: Agents;
  /** Held from checking the limits until the agent is counted, so that two agents never both take the last slot. */
  readonly #startLock = new PriorityLock();
  readonly #searches: BlameSearches | null;
  #isSearching = false;
  /** Causes whose tests are in the current run because another fix may heal them. */
  #underTest: readonly CauseWork[] = [];
  readonly #waitingForTrial: (() => void)[] = [];
  /** Causes that have an agent, until its fix is judged. */
  readonly #onTrial = new Set<CauseWork>();
  /** Aborts when the last agent has finished. */
  #idle = new AbortController();

  constructor(progress: Progress, { agents, searches = null, revealed = new Map() }: ScheduleOptions) {
    this.progress = progress;
    this.revealed = revealed;
    this.#agents = new Agents(agents);
    this.#searches = searches;
  }

  /** Runs the task of a cause, which holds the tree except while it pauses. */
  async run(work: CauseWork, task: () => Promise<void>): Promise<void> {
    this.active.add(work);
    await this.#tree.acquire(() => ranks.start);
    try {
      if (!this.failure) await task();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.active.delete(work);
      this.endTrial(work);
      this.#tree.release();
    }
  }

  /** Ends the trial of a cause's fix, so that causes that it may also heal need not wait any longer. */
  endTrial(work: CauseWork): void {
    this.#onTrial.delete(work);
    this.#wakeWaiting();
  }

  #wakeWaiting(): void {
    for (const wake of this.#waitingForTrial.splice(0)) wake();
  }

  /** Releases the tree, waits, and takes it again. */
  async pause<T>(until: () => Promise<T>, rank = () => ranks.start): Promise<T> {
    this.#tree.release();
    try {
      return await until();
    } finally {
      await this.#tree.acquire(rank);
    }
  }

  /** Lets other tasks use the tree, and takes it again before new agents start. */
  yieldTree(): Promise<void> {
    return this.pause(
      async () => undefined,
      () => ranks.fix,
    );
  }

  /** Releases the tree, waits for a free agent and runs the task with it; returns null if the work is stopped before an agent is free. */
  async withAgent<T>(work: CauseWork, task: (copy: number) => Promise<T>): Promise<T | null> {
    const { bus } = this.progress.session;
    const done = await this.pause(
      async () => {
        while (this.#mayBeHealed(work) && !work.signal.aborted)
          await new Promise<void>((wake) => void this.#waitingForTrial.push(wake));
        this.#stopIfHealed(work);
        this.#onTrial.add(work);
        const copy = await this.#agents.acquireCopy(work.copy, work.signal);
        if (copy === null) return null;
        try {
          return await task(copy);
        } finally {
          this.#agents.releaseCopy(copy);
          if (this.#agents.atWork === 0) this.#idle.abort();
          const text = 'finished; waiting for its turn to apply the change';
          if (this.#tree.isHeld) bus.emit({ type: 'agent.activity', causeId: work.cause.id, text });
        }
      },
      () => (isGreenWithOthers(work.trial) ? ranks.judged : ranks.fix),
    );
    this.#stopIfHealed(work);
    return done;
  }

  /** Starts agents one after another, so that each is counted before the limits are checked for the next. */
  async startInTurn<T>(start: () => Promise<T>): Promise<T> {
    await this.#startLock.acquire(() => 0);
    try {
      return await start();
    } finally {
      this.#startLock.release();
    }
  }

  /** Runs a task that prepares an agent's copy. Waits for the tree, unless another task holds it and the copy exists already. */
  async prepareInCopy<T>(work: CauseWork, copy: number, task: (slot: AgentSlot) => Promise<T>): Promise<T> {
    const slot = { copy, signal: work.signal, isNewCopy: work.copy !== null && work.copy !== copy };
    work.copy = copy;
    if (this.#tree.isHeld && this.progress.session.workspace.hasCopy(copy))
      return task({ ...slot, isFixUnderTest: true });
    await this.#tree.acquire(() => ranks.fix);
    try {
      return await task(slot);
    } finally {
      this.#tree.release();
    }
  }

  /**
   * Tries a fix together with failures of other causes, which it may heal, too, beginning with those that have not run for the longest time. No agent
   * starts for these meanwhile (HL-6). The last cause instead includes newly revealed failures, so that the same runs confirm them.
   */
  async tryWithOtherFailures<T>(
    work: CauseWork,
    tryWith: (otherFailures: readonly DiagnosedFailure[]) => Promise<T>,
  ): Promise<T> {
    const { observations } = this.progress.session;
    const latestRun = ({ cause }: CauseWork) => observations.getLatestRun(cause.lead);
    const all = [...this.active].filter((other) => other !== work && !isGreenWithOthers(other.trial));
    const others = all
      .toSorted(
        (a, b) =>
          Number(shareResponse(work, b)) - Number(shareResponse(work, a)) || latestRun(a) - latestRun(b),
      )
      .slice(0, Math.min(MAX_OTHER_FAILURES, this.#agents.count));
    const revealed = [...this.revealed.values()].filter(({ failure }) => failure.scope === 'test');
    const leads = others.map(({ cause }) => cause.lead);
    // With one agent, no other cause gets it before this trial shows whether it is healed, too.
    const waiting = this.#agents.count === 1 ? all : others;
    this.#underTest = waiting.filter((other) => !this.#haveDifferentCauses(work, other));
    try {
      return await tryWith(leads.length > 0 ? leads : revealed);
    } finally {
      this.#underTest = [];
      this.#wakeWaiting();
    }
  }

  /**
   * True if a fix under trial or in the making may also heal this cause: its test is in the run, the same response of the app decided both, or there is
   * only one agent, so that waiting for the fix costs no time.
   */
  #mayBeHealed(work: CauseWork): boolean {
    const hasOneAgent = this.#agents.count === 1;
    return (
      this.#underTest.includes(work) ||
      [...this.#onTrial].some(
        (other) =>
          other !== work &&
          (shareResponse(other, work) || (hasOneAgent && !this.#haveDifferentCauses(other, work))),
      )
    );
  }

  /**
   * Re-runs the test of a cause before its agent starts, if a fix that may heal it has entered the project since its last run, and with it the tests of
   * other causes in the same state. Stops the work if the fix has healed it (HL-6). Several agents do not wait for the tree.
   */
  async rerunBeforeAgent(work: CauseWork): Promise<void> {
    const { session } = this.progress;
    if (this.#hasRunWithFixes(work) || (this.#agents.count > 1 && this.#tree.isHeld)) return;
    await this.#tree.acquire(() => ranks.fix);
    try {
      const failures = [...this.active].flatMap((one) => (this.#hasRunWithFixes(one) ? [] : one.cause.lead));
      if (!this.#hasRunWithFixes(work)) await retest(session, { failures, purpose: 'retest', causeId: null });
    } finally {
      this.#tree.release();
    }
    this.#stopIfHealed(work);
  }

  /** True if the test of a cause has run with all the fixes in the project that may heal it. */
  #hasRunWithFixes({ cause, trial }: CauseWork): boolean {
    const { observations } = this.progress.session;
    const others = listKeptCauses(this.progress).filter(({ id }) => id !== cause.id);
    const mayHeal = others.filter(({ id }) => !this.#searches?.haveDifferentCauses(cause.id, id));
    return (
      isGreenWithOthers(trial) ||
      mayHeal.length === 0 ||
      observations.hasRunWith(
        cause.lead,
        mayHeal.flatMap((other) => listCauseChanges(this.progress, other)),
      )
    );
  }

  #haveDifferentCauses({ cause }: CauseWork, { cause: other }: CauseWork): boolean {
    return this.#searches?.haveDifferentCauses(cause.id, other.id) === true;
  }

  /** Stops the work on a cause whose test is green with another cause's fix. */
  #stopIfHealed({ cause, trial, stop, signal }: CauseWork): void {
    const isGreen = this.progress.session.observations.isGreen(cause.lead);
    if (isGreen && !isGreenWithOthers(trial) && !signal.aborted)
      stop.abort('its test is green with the fix for another cause');
  }

  /** Returns the cause with the change to blame, if it has been found meanwhile. */
  addFoundBlame(cause: Cause): Cause {
    const blame = this.progress.causes.get(cause.id)?.blame;
    return blame && blame !== cause.blame ? { ...cause, blame } : cause;
  }

  /** Finishes the search for the change that broke a cause, before a person is asked; returns the cause with the change to blame. */
  async finishBlameSearch(cause: Cause): Promise<Cause> {
    const { signal, observations } = this.progress.session;
    const searches = this.#searches;
    if (searches && observations.isRed(cause.lead)) {
      const isOpen = () => searches.needsRun(cause.id) && !signal.aborted;
      while (isOpen() && (await searches.next((id) => id === cause.id)));
      await this.#keepBlame(searches, cause);
    }
    return this.addFoundBlame(cause);
  }

  /**
   * Continues the searches while agents are at work and no other task needs the tree. First waits for as long as one run takes: a search then delays a
   * fix by no more time than the fix's agent has already worked.
   */
  async continueSearches(): Promise<void> {
    const searches = this.#searches;
    if (!searches || this.#isSearching) return;
    this.#isSearching = true;
    this.#idle = new AbortController();
    const { suite, clock } = this.progress.session;
    try {
      const ids = [...this.active].flatMap(({ cause }) => cause.lead.rerunIds);
      await clock.sleep(suite.plan.estimateMs(ids) ?? 0, this.#idle.signal);
      while (this.#isSearchUseful(searches) && (await this.#searchOnce(searches)));
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isSearching = false;
    }
  }

  #isSearchUseful(searches: BlameSearches): boolean {
    const isOpen = [...this.active].some(({ cause }) => searches.needsRun(cause.id));
    return isOpen && this.#agents.atWork > 0 && !this.failure && !this.progress.session.signal.aborted;
  }

  async #searchOnce(searches: BlameSearches): Promise<boolean> {
    const { observations } = this.progress.session;
    await this.#tree.acquire(() => ranks.search);
    try {
      // Skips tests not known to be red: a fix in the project may have turned them green.
      const red = [...this.active].filter(
        ({ cause, trial }) => !isGreenWithOthers(trial) && observations.isRed(cause.lead),
      );
      const isWanted = (causeId: string) => red.some(({ cause }) => cause.id === causeId);
      if (!this.#isSearchUseful(searches) || !(await searches.next(isWanted))) return false;
      for (const { cause } of this.active) await this.#keepBlame(searches, cause);
      return true;
    } finally {
      this.#tree.release();
    }
  }

  /** Stores the result of a finished search in its cause. */
  async #keepBlame(searches: BlameSearches, { id }: Cause): Promise<void> {
    const { causes } = this.progress;
    const cause = causes.get(id);
    if (!cause || cause.blame?.isMinimal || searches.needsRun(id)) return;
    const blame = await searches.findBlame(id);
    if (blame) causes.set(id, { ...cause, blame });
  }

  #fail(error: unknown): void {
    this.failure ??= { error };
    for (const work of this.active) work.stop.abort();
  }
}

/** True if the same response of the app decided both causes. */
function shareResponse({ cause }: CauseWork, { cause: other }: CauseWork): boolean {
  const response = findDecidingResponse(cause.lead);
  return response !== null && response === findDecidingResponse(other.lead);
}

/** A lock on the working tree. When it is released, the most useful waiting task gets it. */
export class PriorityLock {
  #isHeld = false;
  readonly #queue: { readonly rank: () => number; readonly enter: () => void }[] = [];

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Waits for the lock. The task with the lowest rank is next; among equals, the one that has waited longest. */
  async acquire(rank: () => number): Promise<void> {
    if (this.#isHeld) await new Promise<void>((enter) => void this.#queue.push({ rank, enter }));
    this.#isHeld = true;
  }

  release(): void {
    const [next] = this.#queue.toSorted((a, b) => a.rank() - b.rank());
    this.#isHeld = next !== undefined;
    if (!next) return;
    this.#queue.splice(this.#queue.indexOf(next), 1);
    next.enter();
  }
}

/** The agents that may work at the same time, each in its own copy. */
export class Agents {
  readonly #free: number[];
  readonly #queue: { readonly copy: number | null; readonly enter: (copy: number) => void }[] = [];
  atWork = 0;

  readonly count: number;

  constructor(count: number) {
    this.count = count;
    this.#free = Array.from({ length: count }, (_, copy) => copy);
  }

  /** Waits in line for an agent and returns the number of its copy, preferably `last`; null if the signal aborts first. */
  async acquireCopy(last: number | null, signal: AbortSignal): Promise<number | null> {
    if (signal.aborted) return null;
    const copy = this.#choose(last);
    if (copy !== undefined) return copy;
    return new Promise((resolve) => {
      const waiting = { copy: last, enter: (copy: number) => done(copy) };
      const done = (copy: number | null) => {
        signal.removeEventListener('abort', stop);
        resolve(copy);
      };
      const stop = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        done(null);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#queue.push(waiting);
    });
  }

  releaseCopy(copy: number): void {
    this.atWork -= 1;
    this.#free.push(copy);
    const next = this.#queue.shift();
    if (next) next.enter(this.#choose(next.copy) ?? copy);
  }

  #choose(last: number | null): number | undefined {
    const [first] = this.#free.toSorted((a, b) => a - b);
    const copy = last !== null && this.#free.includes(last) ? last : first;
    if (copy === undefined) return undefined;
    this.#free.splice(this.#free.indexOf(copy), 1);
    this.atWork += 1;
    return copy;
  }
}
