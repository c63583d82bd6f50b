import type { Blame } from '../../model/blame.js';
import type { DiagnosedFailure } from '../../model/cause.js';
import { type MinimalSet, findMinimalSet, type SetOutcome } from '../../minimal-set.js';
import type { Candidate } from '../../workspace/candidates.js';
import { type RelatedPosition, rateHunk } from '../../diagnose/likelihood.js';
import { countNeededGreenRuns } from '../../model/failure-rate.js';
import type { ChangeHistory } from './history.js';
import { groupBy } from '../../group-by.js';
import { orderForSearch } from './search-order.js';

/** The outcome of a test in a run with some hunks reverted; `other`: red with another error. */
export type TestOutcome = SetOutcome | 'other';

/** The maximum number of hunks named by the failure to revert one by one, if the test does not run with all changes reverted. */
const MAX_SINGLE_HUNKS = 3;

/** The maximum number of newest commits to revert, one more in each run, if the test does not run with all changes reverted. */
const MAX_COMMITS = 5;

/**
 * How many green runs with a set reverted are needed to report the set. `ifOthersHeal`: the test is also green with all other changes reverted, so either
 * result may be chance; as many runs with nothing reverted must then be red.
 */
const GREENS_TO_REPORT = { usually: 2, ifOthersHeal: 3 } as const;

/** The rating of a hunk in whose lines the failure happened. Hunks with at least this rating are tried before all changes together. */
const STRONG_RATING = 6;

/** The red runs before a search: the first one and its confirmation. */
const INITIAL_REDS = 2;

/** A green run that reverted more hunks says too little about each of them. */
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
 * The search for the change that broke a cause's test. First it reverts all changes: if the test stays red, none of them is to blame. Then it reverts the
 * likeliest hunk alone (first of all, if an earlier run was green with all changes reverted), and then sets of hunks, which it splits between commits, files and
 * hunks, in this order. After each run, it replays these steps with the outcomes of all runs so far, up to the first step with an unknown outcome, and
 * requests a run for that step.
 */
export class CauseSearch {
  readonly causeId: string;
  readonly lead: DiagnosedFailure;
  /** The candidates of the current search. */
  history: ChangeHistory;
  /** The hunks to revert in its next run; null once it has ended. */
  nextHunks: readonly Candidate[] | null = null;
  /** True while it searches for a set of hunks. Such runs are no evidence about single hunks. */
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
  /** A hunk to revert alone, because runs that also reverted other hunks were inconclusive. */
  #hunkToTestAlone: Candidate | null = null;
  #readOlder: () => Promise<ChangeHistory | null>;

  /** `readOlder` returns the history to search if no change in the first one is the cause. */
  constructor(
    causeId: string,
    lead: DiagnosedFailure,
    {
      history,
      readOlderHistory,
      relatedPositions = [],
    }: {
      readonly history: ChangeHistory;
      readonly readOlderHistory: () => Promise<ChangeHistory | null>;
      readonly relatedPositions?: readonly RelatedPosition[];
    },
  ) {
    [this.causeId, this.lead, this.history] = [causeId, lead, history];
    [this.#readOlder, this.rank] = [readOlderHistory, createRanking(lead, relatedPositions)];
  }

  /** Continues as far as possible without another run. */
  async advance(): Promise<void> {
    const best = this.#findSmallestGreenSet();
    this.nextHunks = null;
    this.isRepeating = false;
    this.culprits = (await this.#findSmallest()) ?? (this.endedBy ? best : this.#findSmallestGreenSet());
  }

  /** True if its test was red with all of these hunks reverted, so they did not break it. */
  isRedWithout(hunks: readonly Candidate[]): boolean {
    return this.#runs.some(
      ({ reverted, outcome }) => outcome === 'red' && hunks.every((hunk) => reverted.has(hunk)),
    );
  }

  /** True if runs have shown that its test has a different breaking change than the test of another search. */
  hasDifferentCauseFrom(other: CauseSearch): boolean {
    if (this.history !== other.history) return false;
    const [ownSet, otherSet] = [this.culprits?.set, other.culprits?.set];
    if (ownSet && otherSet && !ownSet.some((hunk) => otherSet.includes(hunk))) return true;
    return (
      (ownSet && other.isRedWithout(ownSet)) === true || (otherSet && this.isRedWithout(otherSet)) === true
    );
  }

  /** Records the outcome of a run, and continues. */
  async recordRun(reverted: ReadonlySet<Candidate>, outcome: TestOutcome): Promise<void> {
    const [hunk, ...more] = this.nextHunks ?? [];
    const wasRequested = hunk !== undefined && more.length === 0 && reverted.has(hunk);
    const before = wasRequested ? this.#listSuspects(hunk)?.length : 0;
    this.#runs.push({ reverted, outcome, seeksSet: this.seeksSet });
    if (wasRequested && before !== 1 && this.#listSuspects(hunk)?.length === before)
      this.#hunkToTestAlone = hunk;
    await this.advance();
  }

  /** Ends the search with the smallest set so far. */
  async endSearch(endedBy: Blame['endedBy']): Promise<void> {
    this.endedBy = endedBy;
    await this.advance();
  }

  /** True if its next run may also revert hunks for other searches. */
  get canShareRun(): boolean {
    const [hunk, ...more] = this.nextHunks ?? [];
    const isSingle = hunk !== undefined && more.length === 0 && hunk !== this.#hunkToTestAlone;
    return isSingle && !this.seeksSet && this.lead.failure.scope === 'test';
  }

  get stats(): Pick<Blame, 'runs' | 'unresolved'> & { readonly wasRed: boolean } {
    const countRuns = (wanted: SetOutcome) => this.#runs.filter(({ outcome }) => outcome === wanted).length;
    return { runs: this.#runs.length, unresolved: countRuns('unresolved'), wasRed: countRuns('red') > 0 };
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
    const older = await this.#readOlder();
    if (!older) return null;
    [this.history, this.#readOlder] = [older, async () => null];
    return this.#findSmallest();
  }

  /** Returns the smallest part of `all` whose reversal turns the test green. First tries the hunks of `single` that the failure names, one by one. */
  async #findSmallestIn(
    single: readonly Candidate[],
    all: readonly Candidate[],
  ): Promise<MinimalSet<Candidate> | null> {
    if (single.length === 0 || this.nextHunks) return null;
    const rank = this.rank;
    const ranked = listRankedHunks(single, rank);
    const [likeliest] = ranked;
    // An earlier run was green with all changes reverted, or this hunk is likely enough.
    if (likeliest && (this.history.base.from === 'last-green' || rank(likeliest) >= STRONG_RATING)) {
      this.seeksSet = false;
      const outcome = this.#getOutcome([likeliest]);
      if (outcome === 'green') return { set: [likeliest], isMinimal: true };
      if (outcome === null) return null;
    }
    this.seeksSet = true;
    const outcomeOfAll = this.#getStrictOutcome(all);
    if (outcomeOfAll === null || outcomeOfAll === 'red') return null;
    this.seeksSet = false;
    const tried = new Set<Candidate>();
    const named = ranked.slice(0, outcomeOfAll === 'green' ? 1 : MAX_SINGLE_HUNKS);
    for (let hunk = named.shift(); hunk; hunk = this.#findHintedHunk(tried) ?? named.shift()) {
      const outcome = this.#getOutcome([hunk]);
      if (outcome === 'green') return { set: [hunk], isMinimal: true };
      if (outcome === null) return null;
      tried.add(hunk);
    }
    this.seeksSet = true;
    const green = outcomeOfAll === 'green' ? all : this.#findGreenCommits(all);
    if (green === null) return null;
    const { items, distance } = orderForSearch(green, rank);
    const suspects = this.#narrowToCommit(items);
    return (
      suspects && findMinimalSet(suspects, { test: async (reverted) => this.#getOutcome(reverted), distance })
    );
  }

  /**
   * Returns the changes of the commit whose reversal turns the test green; if its reversal alone does not, all changes up to that commit. Null if a run is
   * needed. This way, the search knows the commit long before the lines.
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
    const outcome = this.#getOutcome(reverted);
    return outcome === 'red' && !this.isRedWithout(reverted) ? 'unresolved' : outcome;
  }

  /** Finds the newest commits whose reversal turns the test green, if the test does not run with all commits reverted. Returns null if a run is needed. */
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
   * breaks it. If it is green, too, both results may be chance, so runs with nothing reverted must be red. The other runs revert the set again; if one of
   * them is red, the search continues.
   */
  #confirmSet(smallest: MinimalSet<Candidate>): MinimalSet<Candidate> | null {
    if (this.#isConfirmed(smallest.set)) return smallest;
    if (this.endedBy) return { ...smallest, isMinimal: false };
    if (this.#getOutcomeWithoutOthers(smallest.set) === null) {
      this.seeksSet = true;
      this.nextHunks = this.#listOtherChanges(smallest.set);
      return null;
    }
    this.isRepeating = true;
    const needsControl =
      this.#getOutcomeWithoutOthers(smallest.set) === 'green' &&
      this.#listControlRuns().length < GREENS_TO_REPORT.ifOthersHeal;
    this.nextHunks = needsControl ? [] : smallest.set;
    this.seeksSet = this.nextHunks.length !== 1;
    return null;
  }

  /** Returns the control runs, which reverted nothing. */
  #listControlRuns(): readonly TestRun[] {
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
    if (others === 'green' && this.#listControlRuns().length < wanted) return false;
    return greens >= Math.max(wanted, this.#greensNeeded);
  }

  #listOtherChanges(set: readonly Candidate[]): readonly Candidate[] {
    return this.history.candidates.filter((candidate) => !set.includes(candidate));
  }

  /** The outcome with all other changes reverted; null if unknown. */
  #getOutcomeWithoutOthers(set: readonly Candidate[]): TestOutcome | null {
    const reverted = this.#listOtherChanges(set);
    if (reverted.length === 0) return 'unresolved';
    if (this.isRedWithout(reverted)) return 'red';
    return this.#runs.find((run) => revertedExactly(run, reverted))?.outcome ?? null;
  }

  /**
   * The number of green runs that prove a state green: one or, if the test was both green and red in the same state, as many as its failure rate
   * requires.
   */
  get #greensNeeded(): number {
    const reds = this.#runs.filter(({ outcome }) => outcome === 'red');
    const chanceGreens = this.#runs.filter(
      ({ reverted, outcome }) =>
        outcome === 'green' && (reverted.size === 0 || this.isRedWithout([...reverted])),
    );
    const red = INITIAL_REDS + reds.length;
    return chanceGreens.length === 0 ? 1 : countNeededGreenRuns({ red, runs: red + chanceGreens.length });
  }

  #countGreensWithout(set: readonly Candidate[]): number {
    const [hunk, ...more] = set;
    const shared =
      hunk && more.length === 0 && this.#listSuspects(hunk)?.length === 1 ? this.#listGreenSets() : [];
    const exact = this.#runs.filter((run) => run.outcome === 'green' && revertedExactly(run, set));
    const inSharedRuns = shared.filter(
      (reverted) => reverted.size > 1 && set.every((one) => reverted.has(one)),
    );
    return exact.length + inSharedRuns.length;
  }

  /** Returns the outcome of the test without these hunks. If it is unknown, requests a run and returns null. */
  #getOutcome(reverted: readonly Candidate[]): SetOutcome | null {
    const outcome = this.#findKnownOutcome(reverted);
    if (outcome === null && !this.endedBy) this.nextHunks ??= reverted;
    return outcome;
  }

  #findKnownOutcome(reverted: readonly Candidate[]): SetOutcome | null {
    // One red run decides, because a green one may be chance. If a test stays red with some hunks reverted, it is also red with fewer of them reverted.
    if (this.isRedWithout(reverted)) return 'red';
    const exact = this.#runs.filter((run) => revertedExactly(run, reverted));
    if (exact.some(({ outcome }) => outcome === 'other')) return 'red';
    if (exact.some(({ outcome }) => outcome === 'unresolved')) return 'unresolved';
    if (exact.length > 0) return exact.length >= this.#greensNeeded ? 'green' : null;
    const [hunk, ...more] = reverted;
    if (hunk === undefined || more.length > 0 || hunk === this.#hunkToTestAlone || this.seeksSet) return null;
    return this.#listSuspects(hunk)?.length === 1 ? 'green' : null;
  }

  /** Returns this hunk and each hunk that every green run reverted along with it, unless a red run reverted that one; null if no green run reverted it. */
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

  /** Returns the reverted hunks of each green run, except runs that searched for a set of hunks. */
  #listGreenSets(): ReadonlySet<Candidate>[] {
    return this.#runs.flatMap(({ reverted, outcome, seeksSet }) =>
      outcome === 'green' && !seeksSet ? [reverted] : [],
    );
  }

  #listInnocentHunks(): ReadonlySet<Candidate> {
    return new Set(this.#runs.flatMap(({ reverted, outcome }) => (outcome === 'red' ? [...reverted] : [])));
  }

  /** Returns the smallest set so far whose reversal turns the test green. */
  #findSmallestGreenSet(): MinimalSet<Candidate> | null {
    const [hunk, ...more] = this.nextHunks ?? [];
    const suspects = hunk && more.length === 0 ? this.#listSuspects(hunk) : null;
    const greens = this.#runs.flatMap(({ reverted, outcome }) =>
      outcome === 'green' ? [[...reverted]] : [],
    );
    const [set] = [...greens, ...(suspects ? [suspects] : [])].toSorted((a, b) => a.length - b.length);
    return set ? { set, isMinimal: set.length === 1 && this.#isConfirmed(set) } : null;
  }

  /** Finds an untried hunk of a green run: if reverting one of its hunks left the test red, another of its hunks is the suspect. */
  #findHintedHunk(tried: ReadonlySet<Candidate>): Candidate | undefined {
    const innocent = this.#listInnocentHunks();
    const shared = this.#listGreenSets().filter(({ size }) => size <= MAX_SHARED_HUNKS);
    return shared
      .flatMap((reverted) => [...reverted])
      .find((hunk) => !innocent.has(hunk) && !tried.has(hunk));
  }
}

function revertedExactly(run: TestRun, reverted: readonly Candidate[]): boolean {
  return run.reverted.size === reverted.length && reverted.every((hunk) => run.reverted.has(hunk));
}

/** Creates a cached function that rates how likely a candidate caused the failure. */
function createRanking(
  lead: DiagnosedFailure,
  relatedPositions: readonly RelatedPosition[],
): (candidate: Candidate) => number {
  const rate = rateHunk(lead, relatedPositions);
  const ranks = new Map<Candidate, number>();
  return (candidate) => {
    const rank = ranks.get(candidate) ?? rate(candidate.hunk);
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
 * Plans runs that several searches share. Each search has a number, and a run reverts the single hunks of all searches whose number has a given bit set.
 * Thus three runs distinguish the hunks of six searches, and two runs distinguish the first search's hunk from any number of others.
 */
export class Rounds {
  readonly #numbers: ReadonlyMap<CauseSearch, number>;
  #runCount = 0;

  constructor(searches: readonly CauseSearch[]) {
    // No other number has the two lowest bits of the first.
    const numbers = Array.from({ length: 2 * searches.length }, (_, at) => at + 1);
    const usable = numbers.filter((number) => number === 1 || number % 4 !== 1);
    this.#numbers = new Map(searches.map((search, at) => [search, usable[at] ?? 1]));
  }

  /**
   * Returns the next run. It reverts the hunks that the first of these searches requests and, if that is a single hunk, the single hunks of the
   * others.
   */
  next(searches: readonly CauseSearch[]): Round | null {
    const waiting = searches.filter(({ nextHunks }) => nextHunks !== null);
    const [first] = waiting;
    if (!first?.nextHunks) return null;
    const sameHistory = waiting.filter(({ history }) => history === first.history);
    if (first.canShareRun) return this.#shareRun(sameHistory.filter(({ canShareRun }) => canShareRun));
    const reverted = new Set(first.nextHunks);
    const sameHunks = sameHistory.filter(
      ({ nextHunks }) => nextHunks?.length === reverted.size && nextHunks.every((hunk) => reverted.has(hunk)),
    );
    return { reverted, searches: sameHunks };
  }

  #shareRun(searches: readonly CauseSearch[]): Round {
    const numbers = searches.map((search) => this.#numbers.get(search) ?? 1);
    const bits = Math.floor(Math.log2(Math.max(...numbers))) + 1;
    for (;;) {
      const bit = this.#runCount % bits;
      this.#runCount += 1;
      // A search that repeats a green run need not be distinguished from others.
      const selected = searches.filter(
        ({ isRepeating }, at) => isRepeating || ((numbers[at] ?? 0) >> bit) % 2 === 1,
      );
      const reverted = new Set(selected.flatMap(({ nextHunks }) => nextHunks ?? []));
      if (reverted.size > 0) return { reverted, searches };
    }
  }
}
