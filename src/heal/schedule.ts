import { findDecidingAnswer } from '../diagnose/asserted.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import type { AgentSlot } from './attempt/start-agent.js';
import { isGreenInCompany } from './attempt/trial.js';
import type { CauseWork } from './cause-work.js';
import type { BlameSearches } from './hooks.js';
import type { Progress } from './progress.js';

/** The order in which waiting tasks get the tree. */
const ranks = { judged: 0, fix: 1, start: 2, search: 3 };

/** How many failures of other causes a re-run includes: with more agents, more of them would cost time with every fix. */
const MAX_BESIDE = 3;

/** What the causes of a schedule share. */
interface ScheduleOptions {
  /** How many agents may work at the same time. */
  readonly agents: number;
  /** The searches for the changes that broke the causes, if there are any. */
  readonly searches?: BlameSearches | null;
  /** Failures revealed in the meantime, by key. */
  readonly revealed?: Map<string, DiagnosedFailure>;
}

/**
 * The work on some causes. One at a time has the project's tree, except while it awaits an agent or the end of a wait; whenever the tree is free, it
 * is given to the most useful task. Each agent works in a copy of its own.
 */
export class Schedule {
  readonly progress: Progress;
  readonly revealed: Map<string, DiagnosedFailure>;
  /** In the order of the causes. */
  readonly works = new Set<CauseWork>();
  /** Why self-heal failed in one of them, so that the run ends with its error; null if it has not. */
  failure: { readonly error: unknown } | null = null;
  readonly #tree = new WorkingTreeLock();
  readonly #agents: Agents;
  /** Held while the limits are checked and until the agent is counted, so that two agents never start on the last place. */
  readonly #starts = new WorkingTreeLock();
  readonly #searches: BlameSearches | null;
  #isSearching = false;
  /** Causes whose tests are in the current run because another fix may heal them. */
  #underTest: readonly CauseWork[] = [];
  readonly #onTested: (() => void)[] = [];
  /** Causes that have an agent, until its fix is judged. */
  readonly #onTrial = new Set<CauseWork>();
  /** Aborts when no agent is at work any more. */
  #idle = new AbortController();

  constructor(progress: Progress, { agents, searches = null, revealed = new Map() }: ScheduleOptions) {
    this.progress = progress;
    this.revealed = revealed;
    this.#agents = new Agents(agents);
    this.#searches = searches;
  }

  /** Runs the task of a cause, which has the tree except while it pauses. */
  async run(work: CauseWork, task: () => Promise<void>): Promise<void> {
    this.works.add(work);
    await this.#tree.enter(() => ranks.start);
    try {
      if (!this.failure) await task();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.works.delete(work);
      this.endTrial(work);
      this.#tree.leave();
    }
  }

  /** Lets causes go on that waited for the trial of a fix which may heal them, too. */
  endTrial(work: CauseWork): void {
    this.#onTrial.delete(work);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#onTested.splice(0)) wake();
  }

  /** Waits while others have the tree. */
  async pause<T>(until: () => Promise<T>, rank = () => ranks.start): Promise<T> {
    this.#tree.leave();
    try {
      return await until();
    } finally {
      await this.#tree.enter(rank);
    }
  }

  /** Lets the work on others go on, and comes back before new agents are started. */
  letOthersGoOn(): Promise<void> {
    return this.pause(
      async () => undefined,
      () => ranks.fix,
    );
  }

  /** Waits for an agent, and for what is done with it, while others have the tree; null if the work is stopped before there is one. */
  async withAgent<T>(work: CauseWork, task: (copy: number) => Promise<T>): Promise<T | null> {
    const { bus } = this.progress.session;
    const done = await this.pause(
      async () => {
        while (this.#mayBeHealed(work) && !work.signal.aborted)
          await new Promise<void>((wake) => void this.#onTested.push(wake));
        this.#stopIfHealed(work);
        this.#onTrial.add(work);
        const copy = await this.#agents.take(work.copy, work.signal);
        if (copy === null) return null;
        try {
          return await task(copy);
        } finally {
          this.#agents.give(copy);
          if (this.#agents.atWork === 0) this.#idle.abort();
          const text = 'finished; waiting for its turn to apply the change';
          if (this.#tree.isHeld) bus.emit({ type: 'agent.activity', causeId: work.cause.id, text });
        }
      },
      () => (isGreenInCompany(work.trial) ? ranks.judged : ranks.fix),
    );
    this.#stopIfHealed(work);
    return done;
  }

  /** Starts agents one after the other, so that each is counted before the next asks whether the limits let it start. */
  async startInTurn<T>(start: () => Promise<T>): Promise<T> {
    await this.#starts.enter(() => 0);
    try {
      return await start();
    } finally {
      this.#starts.leave();
    }
  }

  /** Makes an agent's copy ready: from the project as it is now, or, while a change is tried in the project, as the copy was before. */
  async inCopy<T>(work: CauseWork, copy: number, task: (slot: AgentSlot) => Promise<T>): Promise<T> {
    const slot = { copy, signal: work.signal, isOther: work.copy !== null && work.copy !== copy };
    work.copy = copy;
    if (this.#tree.isHeld && this.progress.session.workspace.hasCopy(copy))
      return task({ ...slot, isTried: true });
    await this.#tree.enter(() => ranks.fix);
    try {
      return await task(slot);
    } finally {
      this.#tree.leave();
    }
  }

  /**
   * Tries a fix with failures of other causes beside its own, those that were not run for the longest time first, since it may heal them, too. Meanwhile
   * no agent is started for these (HL-6). With the last cause run the failures that were revealed meanwhile, so that the same runs confirm them.
   */
  async tryBeside<T>(
    work: CauseWork,
    tryWith: (beside: readonly DiagnosedFailure[]) => Promise<T>,
  ): Promise<T> {
    const { observations } = this.progress.session;
    const latestRun = ({ cause }: CauseWork) => observations.latestRun(cause.lead);
    const all = [...this.works].filter((other) => other !== work && !isGreenInCompany(other.trial));
    const others = all
      .toSorted(
        (a, b) => Number(isOneAnswer(work, b)) - Number(isOneAnswer(work, a)) || latestRun(a) - latestRun(b),
      )
      .slice(0, Math.min(MAX_BESIDE, this.#agents.count));
    const revealed = [...this.revealed.values()].filter(({ failure }) => failure.scope === 'test');
    const leads = others.map(({ cause }) => cause.lead);
    // The only agent is not given to a cause that may be healed already.
    const waiting = this.#agents.count === 1 ? all : others;
    this.#underTest = waiting.filter((other) => !this.#areApart(work, other));
    try {
      return await tryWith(leads.length > 0 ? leads : revealed);
    } finally {
      this.#underTest = [];
      this.#wake();
    }
  }

  /** Whether a fix under trial, or one that an agent is making, may heal a cause, too: its test is run with it, or one answer of the app decided both. */
  #mayBeHealed(work: CauseWork): boolean {
    return (
      this.#underTest.includes(work) ||
      [...this.#onTrial].some((other) => other !== work && isOneAnswer(other, work))
    );
  }

  #areApart({ cause }: CauseWork, { cause: other }: CauseWork): boolean {
    return this.#searches?.haveDifferentCauses(cause.id, other.id) === true;
  }

  /** Stops the work on a cause if another fix has healed it, as far as runs have shown. */
  #stopIfHealed({ cause, trial, stop, signal }: CauseWork): void {
    const isGreen = this.progress.session.observations.isGreen(cause.lead);
    if (isGreen && !isGreenInCompany(trial) && !signal.aborted)
      stop.abort('its test is green with the fix of another cause');
  }

  /** Returns a cause with what is known by now about the change that broke it. */
  informed(cause: Cause): Cause {
    const blame = this.progress.causes.get(cause.id)?.blame;
    return blame && blame !== cause.blame ? { ...cause, blame } : cause;
  }

  /** Brings the search for the change that broke a cause to its end, before a person is asked about it; returns it with what was found. */
  async explained(cause: Cause): Promise<Cause> {
    const { signal, observations } = this.progress.session;
    const searches = this.#searches;
    if (searches && observations.isRed(cause.lead)) {
      const isOpen = () => searches.needsRun(cause.id) && !signal.aborted;
      while (isOpen() && (await searches.next((id) => id === cause.id)));
      await this.#keepBlame(searches, cause);
    }
    return this.informed(cause);
  }

  /**
   * Goes on with the searches while agents are at work and nobody else wants the tree. It waits first for as long as a run takes, so that a fix never
   * waits for the tree longer than its agent worked.
   */
  async searchOn(): Promise<void> {
    const searches = this.#searches;
    if (!searches || this.#isSearching) return;
    this.#isSearching = true;
    this.#idle = new AbortController();
    const { suite, clock } = this.progress.session;
    try {
      const ids = [...this.works].flatMap(({ cause }) => cause.lead.rerunIds);
      await clock.sleep(suite.plan.estimateMs(ids) ?? 0, this.#idle.signal);
      while (this.#isSearchUseful(searches) && (await this.#searchOnce(searches)));
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isSearching = false;
    }
  }

  #isSearchUseful(searches: BlameSearches): boolean {
    const isOpen = [...this.works].some(({ cause }) => searches.needsRun(cause.id));
    return isOpen && this.#agents.atWork > 0 && !this.failure && !this.progress.session.signal.aborted;
  }

  async #searchOnce(searches: BlameSearches): Promise<boolean> {
    const { observations } = this.progress.session;
    await this.#tree.enter(() => ranks.search);
    try {
      // With a fix in the project, a test that is not known to be red may be green because of that.
      const red = [...this.works].filter(
        ({ cause, trial }) => !isGreenInCompany(trial) && observations.isRed(cause.lead),
      );
      const isWanted = (causeId: string) => red.some(({ cause }) => cause.id === causeId);
      if (!this.#isSearchUseful(searches) || !(await searches.next(isWanted))) return false;
      for (const { cause } of this.works) await this.#keepBlame(searches, cause);
      return true;
    } finally {
      this.#tree.leave();
    }
  }

  /** Keeps what a search has found, once it has ended. */
  async #keepBlame(searches: BlameSearches, { id }: Cause): Promise<void> {
    const { causes } = this.progress;
    const cause = causes.get(id);
    if (!cause || cause.blame?.isMinimal || searches.needsRun(id)) return;
    const blame = await searches.of(id);
    if (blame) causes.set(id, { ...cause, blame });
  }

  #fail(error: unknown): void {
    this.failure ??= { error };
    for (const work of this.works) work.stop.abort();
  }
}

/** Whether one answer of the app decided two causes. */
function isOneAnswer({ cause }: CauseWork, { cause: other }: CauseWork): boolean {
  const answer = findDecidingAnswer(cause.lead);
  return answer !== null && answer === findDecidingAnswer(other.lead);
}

/** The project's tree, which one task has at a time; when it is free, the most useful of those that wait gets it. */
export class WorkingTreeLock {
  #isHeld = false;
  readonly #line: { readonly rank: () => number; readonly enter: () => void }[] = [];

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Waits for the tree. The task with the lowest rank is next, and of several the one that waits longest. */
  async enter(rank: () => number): Promise<void> {
    if (this.#isHeld) await new Promise<void>((enter) => void this.#line.push({ rank, enter }));
    this.#isHeld = true;
  }

  leave(): void {
    const [next] = this.#line.toSorted((a, b) => a.rank() - b.rank());
    this.#isHeld = next !== undefined;
    if (!next) return;
    this.#line.splice(this.#line.indexOf(next), 1);
    next.enter();
  }
}

/** The agents that may work at the same time, each in a copy of its own. */
export class Agents {
  readonly #free: number[];
  readonly #line: { readonly copy: number | null; readonly enter: (copy: number) => void }[] = [];
  atWork = 0;

  /** How many there are. */
  readonly count: number;

  constructor(count: number) {
    this.count = count;
    this.#free = Array.from({ length: count }, (_, copy) => copy);
  }

  /** Waits for an agent, in line, and returns the number of its copy, that of its last one if it is free; null once the signal is aborted. */
  async take(last: number | null, signal: AbortSignal): Promise<number | null> {
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
        this.#line.splice(this.#line.indexOf(waiting), 1);
        done(null);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#line.push(waiting);
    });
  }

  give(copy: number): void {
    this.atWork -= 1;
    this.#free.push(copy);
    const next = this.#line.shift();
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
