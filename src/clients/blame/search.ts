import type { Blame } from '../../model/blame.js';
import type { DiagnosedFailure } from '../../model/cause.js';
import { type MinimalSet, findMinimalSet, type SetOutcome } from '../../minimal-set.js';
import type { Candidate } from '../../workspace/candidates.js';
import { type NearPlace, rateHunk } from '../../diagnose/likelihood.js';
import { countGreensNeeded } from '../../model/failure-rate.js';
import type { ChangeHistory } from './history.js';
import { groupBy } from '../../group-by.js';
import { orderForSearch } from './search-order.js';

/** The outcome of a test in a run with some hunks reverted; `other`: red with another error. */
export type TestOutcome = SetOutcome | 'other';

/** The maximum number of hunks, among those that the failure names, to revert one by one if the test does not run without all changes. */
const MAX_SINGLE_HUNKS = 3;

/** The maximum number of newest commits to revert together, one more each time, if the test does not run without all changes. */
const MAX_COMMITS = 5;

/**
 * How many green runs without a set are needed to report it, unless the test is red without all other changes. If the test is green without those,
 * too, either may be chance; then as many runs without any reverted hunk have to be red.
 */
const GREENS_TO_REPORT = { usually: 2, ifOthersHeal: 3 } as const;

/** A hunk is tried before all changes together if its rating is as high as that of a hunk in whose lines the failure happened. */
const STRONG_RATING = 6;

/** A search begins after a red run and its confirmation. */
const INITIAL_REDS = 2;

/** A green run with more reverted hunks is too weak as evidence about each of them. */
const MAX_SHARED_HUNKS = 30;

/** One run of the test. */
interface TestRun {
  /** The reverted hunks. */
  readonly reverted: ReadonlySet<Candidate>;
  readonly outcome: TestOutcome;
  /** True if the run searched for a set of hunks, so it is no evidence about single hunks. */
  readonly seeksSet: boolean;
}

/**
 * The search for the change that broke one cause. First it reverts all changes: if the test stays red, none of them is to blame. Then it reverts the
 * hunk that the failure names most, or begins with that one if an earlier run was green without all changes. Then it reverts sets, which it splits
 * between commits, files and hunks, in this order. After each run, it repeats these steps with the outcomes of all runs so far, up to the first step
 * with an unknown outcome, and requests a run for that step.
 */
export class CauseSearch {
  readonly causeId: string;
  readonly lead: DiagnosedFailure;
  /** The candidates of the current search. */
  history: ChangeHistory;
  /** The hunks to revert in its next run; null at its end. */
  nextHunks: readonly Candidate[] | null = null;
  /** True while it searches for a set of hunks. These runs must not count as runs that several searches shared. */
  seeksSet = false;
  /** True while it repeats a green run. */
  isRepeating = false;
  /** Why it ended early, or null. */
  endedBy: Blame['endedBy'] = null;
  /** The smallest set so far whose reversal turns the test green; null if there is none. */
  culprits: MinimalSet<Candidate> | null = null;
  /** Rates how likely a candidate is to be the cause. */
  readonly rank: (candidate: Candidate) => number;
  readonly #runs: TestRun[] = [];
  /** A hunk to revert alone, because runs without it and others were inconclusive. */
  #hunkToTestAlone: Candidate | null = null;
  #older: () => Promise<ChangeHistory | null>;

  /** `older` returns the history to search if no change in the first one is the cause; `near` are positions in the app that matter to the failure. */
  constructor(
    causeId: string,
    lead: DiagnosedFailure,
    {
      history,
      older,
      near = [],
    }: {
      readonly history: ChangeHistory;
      readonly older: () => Promise<ChangeHistory | null>;
      readonly near?: readonly NearPlace[];
    },
  ) {
    [this.causeId, this.lead, this.history] = [causeId, lead, history];
    [this.#older, this.rank] = [older, createRanking(lead, near)];
  }

  /** Continues as far as possible without another run. */
  async advance(): Promise<void> {
    const best = this.#findBest();
    this.nextHunks = null;
    this.isRepeating = false;
    this.culprits = (await this.#findSmallest()) ?? (this.endedBy ? best : this.#findBest());
  }

  /** True if its test was red with all of these hunks reverted, so they did not break it. */
  isRedWithout(hunks: readonly Candidate[]): boolean {
    return this.#runs.some(
      ({ reverted, outcome }) => outcome === 'red' && hunks.every((hunk) => reverted.has(hunk)),
    );
  }

  /** True if runs have shown that its test has a different breaking change than the test of another search. */
  hasOtherCauseThan(other: CauseSearch): boolean {
    if (this.history !== other.history) return false;
    const [own, others] = [this.culprits?.set, other.culprits?.set];
    if (own && others && !own.some((hunk) => others.includes(hunk))) return true;
    return (own && other.isRedWithout(own)) === true || (others && this.isRedWithout(others)) === true;
  }

  /** Records a run. */
  async record(reverted: ReadonlySet<Candidate>, outcome: TestOutcome): Promise<void> {
    const [hunk, ...more] = this.nextHunks ?? [];
    const wasRequested = hunk !== undefined && more.length === 0 && reverted.has(hunk);
    const before = wasRequested ? this.#listSuspects(hunk)?.length : 0;
    this.#runs.push({ reverted, outcome, seeksSet: this.seeksSet });
    if (wasRequested && before !== 1 && this.#listSuspects(hunk)?.length === before)
      this.#hunkToTestAlone = hunk;
    await this.advance();
  }

  /** Ends the search with the smallest set so far. */
  async end(endedBy: Blame['endedBy']): Promise<void> {
    this.endedBy = endedBy;
    await this.advance();
  }

  /** True if its next run may also revert hunks for other searches. */
  get canShare(): boolean {
    const [hunk, ...more] = this.nextHunks ?? [];
    const isSingle = hunk !== undefined && more.length === 0 && hunk !== this.#hunkToTestAlone;
    return isSingle && !this.seeksSet && this.lead.failure.scope === 'test';
  }

  get stats(): Pick<Blame, 'runs' | 'unresolved'> & { readonly wasRed: boolean } {
    const times = (of: SetOutcome) => this.#runs.filter(({ outcome }) => outcome === of).length;
    return { runs: this.#runs.length, unresolved: times('unresolved'), wasRed: times('red') > 0 };
  }

  /** Reverts changes to the tests, too, only if no change to the app turns the test green. */
  async #findSmallest(): Promise<MinimalSet<Candidate> | null> {
    const { candidates } = this.history;
    const app = candidates.filter(({ inTests }) => !inTests);
    const tests = candidates.filter(({ inTests }) => inTests);
    const smallest =
      (await this.#findSmallestIn(app, app)) ?? (await this.#findSmallestIn(tests, candidates));
    if (this.nextHunks) return null;
    if (smallest || this.endedBy) return smallest && this.#confirmSet(smallest);
    const older = await this.#older();
    if (!older) return null;
    [this.history, this.#older] = [older, async () => null];
    return this.#findSmallest();
  }

  /** Returns the smallest part of `all` whose reversal turns the test green. First tries those hunks of `single` that the failure names, one by one. */
  async #findSmallestIn(
    single: readonly Candidate[],
    all: readonly Candidate[],
  ): Promise<MinimalSet<Candidate> | null> {
    if (single.length === 0 || this.nextHunks) return null;
    const rank = this.rank;
    const ranked = listRankedHunks(single, rank);
    const [likeliest] = ranked;
    // An earlier run was green without all changes, or this hunk is likely enough.
    if (likeliest && (this.history.base.from === 'last-green' || rank(likeliest) >= STRONG_RATING)) {
      this.seeksSet = false;
      const outcome = this.#getOutcome([likeliest]);
      if (outcome === 'green') return { set: [likeliest], isMinimal: true };
      if (outcome === null) return null;
    }
    this.seeksSet = true;
    const whole = this.#getStrictOutcome(all);
    if (whole === null || whole === 'red') return null;
    this.seeksSet = false;
    const tried = new Set<Candidate>();
    const named = ranked.slice(0, whole === 'green' ? 1 : MAX_SINGLE_HUNKS);
    for (let hunk = named.shift(); hunk; hunk = this.#findHintedHunk(tried) ?? named.shift()) {
      const outcome = this.#getOutcome([hunk]);
      if (outcome === 'green') return { set: [hunk], isMinimal: true };
      if (outcome === null) return null;
      tried.add(hunk);
    }
    this.seeksSet = true;
    const green = whole === 'green' ? all : this.#findGreenCommits(all);
    if (green === null) return null;
    const { items, distance } = orderForSearch(green, rank);
    const suspects = this.#narrowToCommit(items);
    return (
      suspects && findMinimalSet(suspects, { test: async (reverted) => this.#getOutcome(reverted), distance })
    );
  }

  /**
   * Returns the changes of the one commit without which the test is green, or else those up to it, in the order of the search; null if a run is needed.
   * This way, the search knows the commit long before the lines.
   */
  #narrowToCommit(items: readonly Candidate[]): readonly Candidate[] | null {
    const commits = [...groupBy(items, ({ step }) => step).values()];
    const [first = []] = commits;
    let [red, green] = [0, commits.length];
    // The likeliest commit is tried alone.
    let middle = first.some((candidate) => this.rank(candidate) > 0) ? 1 : Math.ceil(green / 2);
    while (green - red > 1) {
      const outcome = this.#getOutcome(commits.slice(0, middle).flat());
      if (outcome === null) return null;
      if (outcome === 'unresolved') break;
      if (outcome === 'green') green = middle;
      else red = middle;
      middle = Math.ceil((red + green) / 2);
    }
    const [before, commit] = [commits.slice(0, green).flat(), commits.slice(red, green).flat()];
    if (red === 0 || green - red > 1) return before;
    const alone = this.#getOutcome(commit);
    if (alone === null) return null;
    return alone === 'green' ? commit : before;
  }

  /** Like `#getOutcome`, but another error is inconclusive, because the test may not get as far as the original one. */
  #getStrictOutcome(reverted: readonly Candidate[]): SetOutcome | null {
    const known = this.#getOutcome(reverted);
    return known === 'red' && !this.isRedWithout(reverted) ? 'unresolved' : known;
  }

  /** Finds the newest commits without which the test is green, for a test that does not run without all of them. Returns null if a run is needed. */
  #findGreenCommits(all: readonly Candidate[]): readonly Candidate[] | null {
    const steps = [...new Set(all.map(({ step }) => step))].toSorted((a, b) => b - a).slice(0, MAX_COMMITS);
    for (const oldest of steps) {
      const newest = all.filter(({ step }) => step >= oldest);
      const outcome = this.#getStrictOutcome(newest);
      if (outcome === 'green') return newest;
      if (outcome === null) return null;
    }
    return null;
  }

  /**
   * Returns the set once it is confirmed; until then, requests a run. The first such run reverts all other changes: if the test is red, the set alone
   * breaks it. If it is green, too, both may be chance, so runs without any reverted hunk have to be red. Then repeats the run without the set. If one of
   * these is red, the search continues.
   */
  #confirmSet(found: MinimalSet<Candidate>): MinimalSet<Candidate> | null {
    if (this.#isConfirmed(found.set)) return found;
    if (this.endedBy) return { ...found, isMinimal: false };
    if (this.#getOutcomeWithoutOthers(found.set) === null) {
      this.seeksSet = true;
      this.nextHunks = this.#listOtherChanges(found.set);
      return null;
    }
    this.isRepeating = true;
    const needsControl =
      this.#getOutcomeWithoutOthers(found.set) === 'green' &&
      this.#listControls().length < GREENS_TO_REPORT.ifOthersHeal;
    this.nextHunks = needsControl ? [] : found.set;
    this.seeksSet = this.nextHunks.length !== 1;
    return null;
  }

  /** Returns the runs without any reverted hunk. */
  #listControls(): readonly TestRun[] {
    return this.#runs.filter(({ reverted }) => reverted.size === 0);
  }

  /** True if enough runs have shown that a set breaks the test, and that its reversal heals it. */
  #isConfirmed(set: readonly Candidate[]): boolean {
    const { failure, diagnosis } = this.lead;
    // A compiler error, or a suite that does not start, is the same in each run; any other failure may be flaky.
    if (failure.scope === 'suite' || diagnosis.category === 'build-error') return true;
    const greens = this.#countGreensWithout(set);
    const others = this.#getOutcomeWithoutOthers(set);
    if (others === 'red') return greens > 0;
    const wanted = others === 'green' ? GREENS_TO_REPORT.ifOthersHeal : GREENS_TO_REPORT.usually;
    if (others === 'green' && this.#listControls().length < wanted) return false;
    return greens >= Math.max(wanted, this.#greensToBelieve);
  }

  #listOtherChanges(set: readonly Candidate[]): readonly Candidate[] {
    return this.history.candidates.filter((candidate) => !set.includes(candidate));
  }

  /** The outcome with all other changes reverted; null if unknown. */
  #getOutcomeWithoutOthers(set: readonly Candidate[]): TestOutcome | null {
    const reverted = this.#listOtherChanges(set);
    if (reverted.length === 0) return 'unresolved';
    if (this.isRedWithout(reverted)) return 'red';
    return this.#runs.find((run) => ranWithout(run, reverted))?.outcome ?? null;
  }

  /**
   * How many green runs prove that the test is green in a state: one or, if it was both green and red in some state, as many as its failure rate
   * requires.
   */
  get #greensToBelieve(): number {
    const reds = this.#runs.filter(({ outcome }) => outcome === 'red');
    const chance = this.#runs.filter(
      ({ reverted, outcome }) =>
        outcome === 'green' && (reverted.size === 0 || this.isRedWithout([...reverted])),
    );
    const red = INITIAL_REDS + reds.length;
    return chance.length === 0 ? 1 : countGreensNeeded({ red, runs: red + chance.length });
  }

  #countGreensWithout(set: readonly Candidate[]): number {
    const [hunk, ...more] = set;
    const shared =
      hunk && more.length === 0 && this.#listSuspects(hunk)?.length === 1 ? this.#listGreenSets() : [];
    const exact = this.#runs.filter((run) => run.outcome === 'green' && ranWithout(run, set));
    const inSharedRuns = shared.filter(
      (reverted) => reverted.size > 1 && set.every((one) => reverted.has(one)),
    );
    return exact.length + inSharedRuns.length;
  }

  /** Returns the outcome of the test without these hunks. If it is unknown, requests a run and returns null. */
  #getOutcome(reverted: readonly Candidate[]): SetOutcome | null {
    const known = this.#findKnownOutcome(reverted);
    if (known === null && !this.endedBy) this.nextHunks ??= reverted;
    return known;
  }

  #findKnownOutcome(reverted: readonly Candidate[]): SetOutcome | null {
    // One red run decides, because a green one may be chance. A test that is red without some hunks is also red without fewer of them.
    if (this.isRedWithout(reverted)) return 'red';
    const exact = this.#runs.filter((run) => ranWithout(run, reverted));
    if (exact.some(({ outcome }) => outcome === 'other')) return 'red';
    if (exact.some(({ outcome }) => outcome === 'unresolved')) return 'unresolved';
    if (exact.length > 0) return exact.length >= this.#greensToBelieve ? 'green' : null;
    const [hunk, ...more] = reverted;
    if (hunk === undefined || more.length > 0 || hunk === this.#hunkToTestAlone || this.seeksSet) return null;
    return this.#listSuspects(hunk)?.length === 1 ? 'green' : null;
  }

  /** Returns this hunk and those that all green runs with it reverted, too, except hunks that some red run reverted; null if no green run reverted it. */
  #listSuspects(hunk: Candidate): readonly Candidate[] | null {
    const greens = this.#listGreenSets().filter((reverted) => reverted.has(hunk));
    const innocent = this.#listInnocentHunks();
    const [first] = greens;
    if (!first) return null;
    return [...first].filter(
      (suspect) =>
        suspect === hunk || (!innocent.has(suspect) && greens.every((reverted) => reverted.has(suspect))),
    );
  }

  /** Returns the hunks that each green run reverted, without the runs that searched for a set of hunks. */
  #listGreenSets(): ReadonlySet<Candidate>[] {
    return this.#runs.flatMap(({ reverted, outcome, seeksSet }) =>
      outcome === 'green' && !seeksSet ? [reverted] : [],
    );
  }

  #listInnocentHunks(): ReadonlySet<Candidate> {
    return new Set(this.#runs.flatMap(({ reverted, outcome }) => (outcome === 'red' ? [...reverted] : [])));
  }

  /** Returns the smallest set so far whose reversal turns the test green. */
  #findBest(): MinimalSet<Candidate> | null {
    const [hunk, ...more] = this.nextHunks ?? [];
    const suspects = hunk && more.length === 0 ? this.#listSuspects(hunk) : null;
    const greens = this.#runs.flatMap(({ reverted, outcome }) =>
      outcome === 'green' ? [[...reverted]] : [],
    );
    const [set] = [...greens, ...(suspects ? [suspects] : [])].toSorted((a, b) => a.length - b.length);
    return set ? { set, isMinimal: set.length === 1 && this.#isConfirmed(set) } : null;
  }

  /** Finds an untried hunk of a green run: if the test was red without one hunk of that run, another one of them is the suspect. */
  #findHintedHunk(tried: ReadonlySet<Candidate>): Candidate | undefined {
    const innocent = this.#listInnocentHunks();
    const shared = this.#listGreenSets().filter(({ size }) => size <= MAX_SHARED_HUNKS);
    return shared
      .flatMap((reverted) => [...reverted])
      .find((hunk) => !innocent.has(hunk) && !tried.has(hunk));
  }
}

function ranWithout(run: TestRun, reverted: readonly Candidate[]): boolean {
  return run.reverted.size === reverted.length && reverted.every((hunk) => run.reverted.has(hunk));
}

/** Creates a cached function that rates how likely a candidate caused the failure. */
function createRanking(lead: DiagnosedFailure, near: readonly NearPlace[]): (candidate: Candidate) => number {
  const likely = rateHunk(lead, near);
  const ranks = new Map<Candidate, number>();
  return (candidate) => {
    const rank = ranks.get(candidate) ?? likely(candidate.hunk);
    ranks.set(candidate, rank);
    return rank;
  };
}

/** Returns the hunks that the failure names, the highest-rated first; among equals, the newest. */
function listRankedHunks(candidates: readonly Candidate[], rank: (one: Candidate) => number): Candidate[] {
  return candidates.filter((candidate) => rank(candidate) > 0).toSorted((a, b) => rank(b) - rank(a));
}

/** The hunks that a Playwright run reverts, and the searches that share the run. */
export interface Round {
  readonly reverted: ReadonlySet<Candidate>;
  readonly searches: readonly CauseSearch[];
}

/**
 * Plans runs that several searches share. Each search has a number, and a run reverts the single hunks of all searches whose number has a certain bit.
 * Thus three runs distinguish the hunks of six searches, and two distinguish the hunk of the first search from any number of others.
 */
export class Rounds {
  readonly #numbers: ReadonlyMap<CauseSearch, number>;
  #runWithout = 0;

  constructor(searches: readonly CauseSearch[]) {
    // No other number has the two lowest bits of the first.
    const numbers = Array.from({ length: 2 * searches.length }, (_, at) => at + 1);
    const free = numbers.filter((number) => number === 1 || number % 4 !== 1);
    this.#numbers = new Map(searches.map((search, at) => [search, free[at] ?? 1]));
  }

  /** Returns the next run: it reverts the hunks that the first of these searches needs reverted and, if that is a single hunk, those of others. */
  next(searches: readonly CauseSearch[]): Round | null {
    const waiting = searches.filter(({ nextHunks }) => nextHunks !== null);
    const [first] = waiting;
    if (!first?.nextHunks) return null;
    const ofHistory = waiting.filter(({ history }) => history === first.history);
    if (first.canShare) return this.#shareRun(ofHistory.filter(({ canShare }) => canShare));
    const reverted = new Set(first.nextHunks);
    const alike = ofHistory.filter(
      ({ nextHunks }) => nextHunks?.length === reverted.size && nextHunks.every((hunk) => reverted.has(hunk)),
    );
    return { reverted, searches: alike };
  }

  #shareRun(searches: readonly CauseSearch[]): Round {
    const numbers = searches.map((search) => this.#numbers.get(search) ?? 1);
    const bits = Math.floor(Math.log2(Math.max(...numbers))) + 1;
    for (;;) {
      const bit = this.#runWithout % bits;
      this.#runWithout += 1;
      // A search that repeats a green run needs no distinction from others.
      const selected = searches.filter(
        ({ isRepeating }, at) => isRepeating || ((numbers[at] ?? 0) >> bit) % 2 === 1,
      );
      const reverted = new Set(selected.flatMap(({ nextHunks }) => nextHunks ?? []));
      if (reverted.size > 0) return { reverted, searches };
    }
  }
}
