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

/** How many hunks that the failure names are tried one by one if the test does not run without all changes. */
const MOST_SINGLE = 3;

/** How many of the newest commits are reverted together, one more each time, if the test does not run without all changes. */
const MOST_COMMITS = 5;

/**
 * How many green runs without a set are needed to report it if the test is not red without all other changes. Those may not run by themselves. If they
 * heal the test, too, either may be chance: then as many runs without any reverted hunk have to be red.
 */
const GREENS_TO_STATE = { usually: 2, ifOthersHeal: 3 } as const;

/** A hunk is tried before all changes together if its rating is as high as that of a hunk in whose lines the failure happened. */
const STRONG_RATING = 6;

/** A search begins after a red run and its confirmation. */
const REDS_BEFORE = 2;

/** A green run without more hunks than this is too weak as evidence about each of them. */
const MOST_IN_COMPANY = 30;

/** One run of the test. */
interface TestRun {
  /** The reverted hunks. */
  readonly out: ReadonlySet<Candidate>;
  readonly outcome: TestOutcome;
  /** True if the run tested a set, so it is no evidence about single hunks. */
  readonly seeksSet: boolean;
}

/**
 * The search for the change that broke one cause. It takes out all changes first: if the test stays red, none of them is to blame. Then it takes out
 * the hunk that the failure names most, which comes first if an earlier run was green without all changes, and then sets, which it splits between
 * commits, files and hunks, in this order. After each run, it repeats its steps with the outcomes of all runs so far, up to the first step whose
 * outcome is unknown, and asks for a run of that.
 */
export class CauseSearch {
  readonly causeId: string;
  readonly lead: DiagnosedFailure;
  /** The candidates of the current search. */
  history: ChangeHistory;
  /** The hunks to revert in its next run; null after its end. */
  nextHunks: readonly Candidate[] | null = null;
  /** True while it searches for a set. Runs of sets must not count as runs of single hunks that shared a run. */
  seeksSet = false;
  /** True while it repeats a green run. */
  isRepeating = false;
  /** Why it ended early; null otherwise. */
  endedBy: Blame['endedBy'] = null;
  /** The smallest set so far whose reversal turns the test green; null if there is none. */
  culprits: MinimalSet<Candidate> | null = null;
  /** Rates how likely a candidate is to be the cause. */
  readonly rank: (candidate: Candidate) => number;
  readonly #runs: TestRun[] = [];
  /** A hunk to revert alone, because runs without it and others were inconclusive. */
  #hunkToTestAlone: Candidate | null = null;
  #older: () => Promise<ChangeHistory | null>;

  /** `older` returns the history to search if nothing in the first one is the cause; `near` are positions in the app that matter to the failure. */
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
    [this.#older, this.rank] = [older, rankBy(lead, near)];
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
    return this.#runs.some(({ out, outcome }) => outcome === 'red' && hunks.every((hunk) => out.has(hunk)));
  }

  /** True if runs have shown that its test has a different breaking change than the test of another search. */
  hasOtherCauseThan(other: CauseSearch): boolean {
    if (this.history !== other.history) return false;
    const [own, others] = [this.culprits?.set, other.culprits?.set];
    if (own && others && !own.some((hunk) => others.includes(hunk))) return true;
    return (own && other.isRedWithout(own)) === true || (others && this.isRedWithout(others)) === true;
  }

  /** Records a run. */
  async record(out: ReadonlySet<Candidate>, outcome: TestOutcome): Promise<void> {
    const [hunk, ...more] = this.nextHunks ?? [];
    const isAsked = hunk !== undefined && more.length === 0 && out.has(hunk);
    const before = isAsked ? this.#listSuspects(hunk)?.length : 0;
    this.#runs.push({ out, outcome, seeksSet: this.seeksSet });
    if (isAsked && before !== 1 && this.#listSuspects(hunk)?.length === before) this.#hunkToTestAlone = hunk;
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

  /** Reverts changes of the tests, too, only if no change of the app turns the test green. */
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

  /** Returns the smallest part of `all` whose reversal turns the test green. First tries hunks of `single` that the failure names, one by one. */
  async #findSmallestIn(
    single: readonly Candidate[],
    all: readonly Candidate[],
  ): Promise<MinimalSet<Candidate> | null> {
    if (single.length === 0 || this.nextHunks) return null;
    const rank = this.rank;
    const ranked = orderByRank(single, rank);
    const [likeliest] = ranked;
    // That the test is green without all changes is known from an earlier run, or likely enough.
    if (likeliest && (this.history.base.from === 'last-green' || rank(likeliest) >= STRONG_RATING)) {
      this.seeksSet = false;
      const outcome = this.#outcomeOrAsk([likeliest]);
      if (outcome === 'green') return { set: [likeliest], isMinimal: true };
      if (outcome === null) return null;
    }
    this.seeksSet = true;
    const whole = this.#outcomeOrAskWhole(all);
    if (whole === null || whole === 'red') return null;
    this.seeksSet = false;
    const tried = new Set<Candidate>();
    const named = ranked.slice(0, whole === 'green' ? 1 : MOST_SINGLE);
    for (let hunk = named.shift(); hunk; hunk = this.#findHinted(tried) ?? named.shift()) {
      const outcome = this.#outcomeOrAsk([hunk]);
      if (outcome === 'green') return { set: [hunk], isMinimal: true };
      if (outcome === null) return null;
      tried.add(hunk);
    }
    this.seeksSet = true;
    const green = whole === 'green' ? all : this.#findGreenCommits(all);
    if (green === null) return null;
    const { items, distance: apart } = orderForSearch(green, rank);
    const suspects = this.#narrowToCommit(items);
    return suspects && findMinimalSet(suspects, { test: async (out) => this.#outcomeOrAsk(out), apart });
  }

  /**
   * Returns the changes of the one commit without which the test is green, or else those up to it, in the order of the search. Null if a run is needed.
   * So an answer names the commit long before the search has found the lines.
   */
  #narrowToCommit(items: readonly Candidate[]): readonly Candidate[] | null {
    const commits = [...groupBy(items, ({ step }) => step).values()];
    const [first = []] = commits;
    let [red, green] = [0, commits.length];
    // The likeliest commit is tried alone.
    let middle = first.some((candidate) => this.rank(candidate) > 0) ? 1 : Math.ceil(green / 2);
    while (green - red > 1) {
      const outcome = this.#outcomeOrAsk(commits.slice(0, middle).flat());
      if (outcome === null) return null;
      if (outcome === 'unresolved') break;
      if (outcome === 'green') green = middle;
      else red = middle;
      middle = Math.ceil((red + green) / 2);
    }
    const [before, commit] = [commits.slice(0, green).flat(), commits.slice(red, green).flat()];
    if (red === 0 || green - red > 1) return before;
    const alone = this.#outcomeOrAsk(commit);
    if (alone === null) return null;
    return alone === 'green' ? commit : before;
  }

  /** Like `#outcomeOrAsk`, but another error is inconclusive, because the test may not reach the original one. */
  #outcomeOrAskWhole(out: readonly Candidate[]): SetOutcome | null {
    const known = this.#outcomeOrAsk(out);
    return known === 'red' && !this.isRedWithout(out) ? 'unresolved' : known;
  }

  /** Returns the newest commits without which the test is green, if it does not run without all of them; null if there are none, or not yet. */
  #findGreenCommits(all: readonly Candidate[]): readonly Candidate[] | null {
    const steps = [...new Set(all.map(({ step }) => step))].toSorted((a, b) => b - a).slice(0, MOST_COMMITS);
    for (const oldest of steps) {
      const newest = all.filter(({ step }) => step >= oldest);
      const outcome = this.#outcomeOrAskWhole(newest);
      if (outcome === 'green') return newest;
      if (outcome === null) return null;
    }
    return null;
  }

  /**
   * Returns the set once it is confirmed; until then, asks for a run. The first such run reverts all other changes: if the test is red, the set alone
   * breaks it. If it is green, too, both may be chance, so runs without any reverted hunk have to be red. Then repeats the run without the set. If one of
   * these is red, the search continues.
   */
  #confirmSet(found: MinimalSet<Candidate>): MinimalSet<Candidate> | null {
    if (this.#isConfirmed(found.set)) return found;
    if (this.endedBy) return { ...found, isMinimal: false };
    if (this.#outcomeWithoutOthers(found.set) === null) {
      this.seeksSet = true;
      this.nextHunks = this.#otherChanges(found.set);
      return null;
    }
    this.isRepeating = true;
    const needsControl =
      this.#outcomeWithoutOthers(found.set) === 'green' &&
      this.#listControls().length < GREENS_TO_STATE.ifOthersHeal;
    this.nextHunks = needsControl ? [] : found.set;
    this.seeksSet = this.nextHunks.length !== 1;
    return null;
  }

  /** Returns the runs without any reverted hunk. */
  #listControls(): readonly TestRun[] {
    return this.#runs.filter(({ out }) => out.size === 0);
  }

  /** True if enough runs have shown that a set breaks the test, and that its reversal heals it. */
  #isConfirmed(set: readonly Candidate[]): boolean {
    const { failure, diagnosis } = this.lead;
    // A compiler error, or a suite that does not start, is the same in each run; any other failure may be flaky.
    if (failure.scope === 'suite' || diagnosis.category === 'build-error') return true;
    const greens = this.#greensWithout(set);
    const others = this.#outcomeWithoutOthers(set);
    if (others === 'red') return greens > 0;
    const wanted = others === 'green' ? GREENS_TO_STATE.ifOthersHeal : GREENS_TO_STATE.usually;
    if (others === 'green' && this.#listControls().length < wanted) return false;
    return greens >= Math.max(wanted, this.#greensToBelieve);
  }

  #otherChanges(set: readonly Candidate[]): readonly Candidate[] {
    return this.history.candidates.filter((candidate) => !set.includes(candidate));
  }

  /** The outcome with all other changes reverted; null if unknown. */
  #outcomeWithoutOthers(set: readonly Candidate[]): TestOutcome | null {
    const out = this.#otherChanges(set);
    if (out.length === 0) return 'unresolved';
    if (this.isRedWithout(out)) return 'red';
    return this.#runs.find((run) => ranWithout(run, out))?.outcome ?? null;
  }

  /**
   * How many green runs prove that the test is green in a state: one or, if it was both green and red in some state, as many as its failure rate
   * requires.
   */
  get #greensToBelieve(): number {
    const reds = this.#runs.filter(({ outcome }) => outcome === 'red');
    const chance = this.#runs.filter(
      ({ out, outcome }) => outcome === 'green' && (out.size === 0 || this.isRedWithout([...out])),
    );
    const red = REDS_BEFORE + reds.length;
    return chance.length === 0 ? 1 : countGreensNeeded({ red, runs: red + chance.length });
  }

  #greensWithout(set: readonly Candidate[]): number {
    const [hunk, ...more] = set;
    const shared =
      hunk && more.length === 0 && this.#listSuspects(hunk)?.length === 1 ? this.#listGreenSets() : [];
    const exact = this.#runs.filter((run) => run.outcome === 'green' && ranWithout(run, set));
    const inCompany = shared.filter((out) => out.size > 1 && set.every((one) => out.has(one)));
    return exact.length + inCompany.length;
  }

  /** Returns the outcome of the test without these hunks, or asks for a run and returns null if it is unknown. */
  #outcomeOrAsk(out: readonly Candidate[]): SetOutcome | null {
    const known = this.#knownOutcome(out);
    if (known === null && !this.endedBy) this.nextHunks ??= out;
    return known;
  }

  #knownOutcome(out: readonly Candidate[]): SetOutcome | null {
    // One red run decides, because a green one may be chance. If reverting some hunks leaves the test red, so does reverting fewer of them.
    if (this.isRedWithout(out)) return 'red';
    const exact = this.#runs.filter((run) => ranWithout(run, out));
    if (exact.some(({ outcome }) => outcome === 'other')) return 'red';
    if (exact.some(({ outcome }) => outcome === 'unresolved')) return 'unresolved';
    if (exact.length > 0) return exact.length >= this.#greensToBelieve ? 'green' : null;
    const [hunk, ...more] = out;
    if (hunk === undefined || more.length > 0 || hunk === this.#hunkToTestAlone || this.seeksSet) return null;
    return this.#listSuspects(hunk)?.length === 1 ? 'green' : null;
  }

  /** Returns the hunks one of which turned the test green in every run that also reverted this one; null if there was no such run. */
  #listSuspects(hunk: Candidate): readonly Candidate[] | null {
    const greens = this.#listGreenSets().filter((out) => out.has(hunk));
    const innocent = this.#listInnocent();
    const [first] = greens;
    if (!first) return null;
    return [...first].filter(
      (suspect) => suspect === hunk || (!innocent.has(suspect) && greens.every((out) => out.has(suspect))),
    );
  }

  /** Returns the reverted sets of hunks, each tested as single hunks, with which the test was green. */
  #listGreenSets(): ReadonlySet<Candidate>[] {
    return this.#runs.flatMap(({ out, outcome, seeksSet }) =>
      outcome === 'green' && !seeksSet ? [out] : [],
    );
  }

  #listInnocent(): ReadonlySet<Candidate> {
    return new Set(this.#runs.flatMap(({ out, outcome }) => (outcome === 'red' ? [...out] : [])));
  }

  /** Returns the smallest set so far whose reversal turns the test green. */
  #findBest(): MinimalSet<Candidate> | null {
    const [hunk, ...more] = this.nextHunks ?? [];
    const suspects = hunk && more.length === 0 ? this.#listSuspects(hunk) : null;
    const greens = this.#runs.flatMap(({ out, outcome }) => (outcome === 'green' ? [[...out]] : []));
    const [set] = [...greens, ...(suspects ? [suspects] : [])].toSorted((a, b) => a.length - b.length);
    return set ? { set, isMinimal: set.length === 1 && this.#isConfirmed(set) } : null;
  }

  /** If the test was green with several hunks reverted and red with only one of them reverted, another one of them is the suspect. */
  #findHinted(tried: ReadonlySet<Candidate>): Candidate | undefined {
    const innocent = this.#listInnocent();
    const shared = this.#listGreenSets().filter(({ size }) => size <= MOST_IN_COMPANY);
    return shared.flatMap((out) => [...out]).find((hunk) => !innocent.has(hunk) && !tried.has(hunk));
  }
}

function ranWithout(run: TestRun, out: readonly Candidate[]): boolean {
  return run.out.size === out.length && out.every((hunk) => run.out.has(hunk));
}

/** Creates the cached rating of candidates by a failure. */
function rankBy(lead: DiagnosedFailure, near: readonly NearPlace[]): (candidate: Candidate) => number {
  const likely = rateHunk(lead, near);
  const ranks = new Map<Candidate, number>();
  return (candidate) => {
    const rank = ranks.get(candidate) ?? likely(candidate.hunk);
    ranks.set(candidate, rank);
    return rank;
  };
}

/** Returns the hunks that the failure names, the highest-rated first; among equals, the newest. */
function orderByRank(candidates: readonly Candidate[], rank: (one: Candidate) => number): Candidate[] {
  return candidates.filter((candidate) => rank(candidate) > 0).toSorted((a, b) => rank(b) - rank(a));
}

/** The hunks that a Playwright run reverts, and the searches that share the run. */
export interface Round {
  readonly out: ReadonlySet<Candidate>;
  readonly searches: readonly CauseSearch[];
}

/**
 * The runs that searches share. Each search has a number, and a run reverts the single hunks of all searches whose number has a certain bit. So three
 * runs distinguish the hunks of six searches, and two distinguish the hunk of the first search from any number of others.
 */
export class Rounds {
  readonly #numbers: ReadonlyMap<CauseSearch, number>;
  #run = 0;

  constructor(searches: readonly CauseSearch[]) {
    // No other number has the two lowest bits of the first.
    const numbers = Array.from({ length: 2 * searches.length }, (_, at) => at + 1);
    const free = numbers.filter((number) => number === 1 || number % 4 !== 1);
    this.#numbers = new Map(searches.map((search, at) => [search, free[at] ?? 1]));
  }

  /** Returns the next run: it reverts the hunks that the first of these searches asks for and, if that is a single hunk, the hunks of others. */
  next(searches: readonly CauseSearch[]): Round | null {
    const asking = searches.filter(({ nextHunks }) => nextHunks !== null);
    const [first] = asking;
    if (!first?.nextHunks) return null;
    const ofHistory = asking.filter(({ history }) => history === first.history);
    if (first.canShare) return this.#shareRun(ofHistory.filter(({ canShare }) => canShare));
    const out = new Set(first.nextHunks);
    const alike = ofHistory.filter(
      ({ nextHunks }) => nextHunks?.length === out.size && nextHunks.every((hunk) => out.has(hunk)),
    );
    return { out, searches: alike };
  }

  #shareRun(searches: readonly CauseSearch[]): Round {
    const numbers = searches.map((search) => this.#numbers.get(search) ?? 1);
    const bits = Math.floor(Math.log2(Math.max(...numbers))) + 1;
    for (;;) {
      const bit = this.#run % bits;
      this.#run += 1;
      // Searches with different causes need no further distinction.
      const taken = searches.filter(
        ({ isRepeating }, at) => isRepeating || ((numbers[at] ?? 0) >> bit) % 2 === 1,
      );
      const out = new Set(taken.flatMap(({ nextHunks }) => nextHunks ?? []));
      if (out.size > 0) return { out, searches };
    }
  }
}
