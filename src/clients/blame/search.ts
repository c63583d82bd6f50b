import type { Blame } from '../../model/blame.js';
import type { DiagnosedFailure } from '../../model/cause.js';
import { type MinimalSet, minimalSet, type SetOutcome } from '../../minimal-set.js';
import type { Candidate } from '../../workspace/candidates.js';
import { rateHunk } from '../../diagnose/likelihood.js';
import { countGreensNeeded } from '../../model/failure-rate.js';
import type { ChangeHistory } from './history.js';
import { orderForSearch } from './search-order.js';

/** The outcome of a test in a run with some hunks taken out; `other`: red with another error. */
export type TestOutcome = SetOutcome | 'other';

/** How many of the hunks that the failure names are tried one by one where the test does not run without all changes. */
const MOST_SINGLE = 3;

/** How many of the newest commits are taken out together, one more each time, where the test does not run without all changes. */
const MOST_COMMITS = 5;

/**
 * How often the test is green without a set before that is stated where all other changes are not red: they may not run by themselves, or heal the
 * test as well, which points to a green run by chance.
 */
const GREENS_TO_STATE = { usually: 2, ifOthersHeal: 4 } as const;

/** A search begins after a red run and its confirmation. */
const REDS_BEFORE = 2;

/** A green run without more hunks than this says too little about each of them. */
const MOST_IN_COMPANY = 30;

/** One run of the test. */
interface TestRun {
  /** The hunks that were taken out. */
  readonly out: ReadonlySet<Candidate>;
  readonly outcome: TestOutcome;
  /** Whether a set was asked for, so that the run says nothing about single hunks. */
  readonly isForSet: boolean;
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
  /** The candidates that it searches now. */
  history: ChangeHistory;
  /** The hunks to take out in its next run; null once it has ended. */
  asked: readonly Candidate[] | null = null;
  /** Whether it looks for a set. Runs of sets must not be read as runs of single hunks that shared a run. */
  isForSet = false;
  /** Whether it repeats a run whose outcome was green. */
  isRepeating = false;
  /** Why it ended before its time; null otherwise. */
  endedBy: Blame['endedBy'] = null;
  /** The smallest set so far that turns the test green when it is taken out; null if there is none. */
  culprits: MinimalSet<Candidate> | null = null;
  readonly #runs: TestRun[] = [];
  /** A hunk that is to be taken out alone, because runs without it and others said nothing about it. */
  #alone: Candidate | null = null;
  #older: () => Promise<ChangeHistory | null>;

  /** `older` returns the history to search if nothing in the first one is the cause. */
  constructor(
    causeId: string,
    lead: DiagnosedFailure,
    {
      history,
      older,
    }: { readonly history: ChangeHistory; readonly older: () => Promise<ChangeHistory | null> },
  ) {
    [this.causeId, this.lead, this.history, this.#older] = [causeId, lead, history, older];
  }

  /** Goes on as far as it can without another run. */
  async advance(): Promise<void> {
    const best = this.#best();
    this.asked = null;
    this.isRepeating = false;
    this.culprits = (await this.#smallest()) ?? (this.endedBy ? best : this.#best());
  }

  /** Whether its test was red without any of these hunks, so that they did not break it. */
  isRedWithout(hunks: readonly Candidate[]): boolean {
    return this.#runs.some(({ out, outcome }) => outcome === 'red' && hunks.every((hunk) => out.has(hunk)));
  }

  /** Whether runs have shown that what broke its test is not what broke that of another search. */
  isApartFrom(other: CauseSearch): boolean {
    if (this.history !== other.history) return false;
    const [own, others] = [this.culprits?.set, other.culprits?.set];
    if (own && others && !own.some((hunk) => others.includes(hunk))) return true;
    return (own && other.isRedWithout(own)) === true || (others && this.isRedWithout(others)) === true;
  }

  /** Records a run. */
  async record(out: ReadonlySet<Candidate>, outcome: TestOutcome): Promise<void> {
    const [hunk, ...more] = this.asked ?? [];
    const isAsked = hunk !== undefined && more.length === 0 && out.has(hunk);
    const before = isAsked ? this.#suspects(hunk)?.length : 0;
    this.#runs.push({ out, outcome, isForSet: this.isForSet });
    if (isAsked && before !== 1 && this.#suspects(hunk)?.length === before) this.#alone = hunk;
    await this.advance();
  }

  /** Ends it with the smallest set so far. */
  async end(endedBy: Blame['endedBy']): Promise<void> {
    this.endedBy = endedBy;
    await this.advance();
  }

  /** Whether a run for it may take out hunks that others ask for. */
  get canShare(): boolean {
    const [hunk, ...more] = this.asked ?? [];
    const isSingle = hunk !== undefined && more.length === 0 && hunk !== this.#alone;
    return isSingle && !this.isForSet && this.lead.failure.scope === 'test';
  }

  get stats(): Pick<Blame, 'runs' | 'unresolved'> & { readonly wasRed: boolean } {
    const times = (of: SetOutcome) => this.#runs.filter(({ outcome }) => outcome === of).length;
    return { runs: this.#runs.length, unresolved: times('unresolved'), wasRed: times('red') > 0 };
  }

  /** Only if no change of the app turns the test green, changes to the tests are taken out, too. */
  async #smallest(): Promise<MinimalSet<Candidate> | null> {
    const { candidates } = this.history;
    const app = candidates.filter(({ inTests }) => !inTests);
    const tests = candidates.filter(({ inTests }) => inTests);
    const smallest = (await this.#smallestOf(app, app)) ?? (await this.#smallestOf(tests, candidates));
    if (this.asked) return null;
    if (smallest || this.endedBy) return smallest && this.#stated(smallest);
    const older = await this.#older();
    if (!older) return null;
    [this.history, this.#older] = [older, async () => null];
    return this.#smallest();
  }

  /** Returns the smallest part of `all` that turns the test green. Of `single`, hunks that the failure names are tried by themselves. */
  async #smallestOf(
    single: readonly Candidate[],
    all: readonly Candidate[],
  ): Promise<MinimalSet<Candidate> | null> {
    if (single.length === 0 || this.asked) return null;
    const rank = rankBy(this.lead);
    const ranked = mostNamed(single, rank);
    const [likeliest] = ranked;
    // An earlier run has shown that the test is green without all changes.
    if (likeliest && this.history.base.from === 'last-green') {
      this.isForSet = false;
      const outcome = this.#ask([likeliest]);
      if (outcome === 'green') return { set: [likeliest], isMinimal: true };
      if (outcome === null) return null;
    }
    this.isForSet = true;
    const whole = this.#askWhole(all);
    if (whole === null || whole === 'red') return null;
    this.isForSet = false;
    const tried = new Set<Candidate>();
    const named = ranked.slice(0, whole === 'green' ? 1 : MOST_SINGLE);
    for (let hunk = named.shift(); hunk; hunk = this.#hinted(tried) ?? named.shift()) {
      const outcome = this.#ask([hunk]);
      if (outcome === 'green') return { set: [hunk], isMinimal: true };
      if (outcome === null) return null;
      tried.add(hunk);
    }
    this.isForSet = true;
    const green = whole === 'green' ? all : this.#greenCommits(all);
    if (green === null) return null;
    const { items, apart } = orderForSearch(green, rank);
    return minimalSet(items, { test: async (out) => this.#ask(out), apart });
  }

  /** As `#ask`. Another error says nothing, since the test may not get to its own. */
  #askWhole(out: readonly Candidate[]): SetOutcome | null {
    const known = this.#ask(out);
    return known === 'red' && !this.isRedWithout(out) ? 'unresolved' : known;
  }

  /** Returns the newest commits without which the test is green, where it does not run without all of them; null if there are none, or as yet. */
  #greenCommits(all: readonly Candidate[]): readonly Candidate[] | null {
    const steps = [...new Set(all.map(({ step }) => step))].toSorted((a, b) => b - a).slice(0, MOST_COMMITS);
    for (const oldest of steps) {
      const newest = all.filter(({ step }) => step >= oldest);
      const outcome = this.#askWhole(newest);
      if (outcome === 'green') return newest;
      if (outcome === null) return null;
    }
    return null;
  }

  /**
   * Returns the set once it may be stated; until then, asks for a run. First, all other changes are taken out: if the test is red then, the set alone
   * breaks it. If that shows nothing, the run without the set is repeated. A red one makes the search go on.
   */
  #stated(found: MinimalSet<Candidate>): MinimalSet<Candidate> | null {
    if (this.#mayBeStated(found.set)) return found;
    if (this.endedBy) return { ...found, isMinimal: false };
    if (this.#others(found.set) === null) {
      this.isForSet = true;
      this.asked = this.#othersOf(found.set);
      return null;
    }
    this.isForSet = found.set.length > 1;
    this.isRepeating = true;
    this.asked = found.set;
    return null;
  }

  /** Whether runs have shown often enough that a set breaks the test, and that its absence heals it. */
  #mayBeStated(set: readonly Candidate[]): boolean {
    const { failure, diagnosis } = this.lead;
    // A compiler's error or a suite that does not start is the same in each run; all else may come and go.
    if (failure.scope === 'suite' || diagnosis.category === 'build-error') return true;
    const greens = this.#greensWithout(set);
    const others = this.#others(set);
    if (others === 'red') return greens > 0;
    const wanted = others === 'green' ? GREENS_TO_STATE.ifOthersHeal : GREENS_TO_STATE.usually;
    return greens >= Math.max(wanted, this.#greensToBelieve);
  }

  #othersOf(set: readonly Candidate[]): readonly Candidate[] {
    return this.history.candidates.filter((candidate) => !set.includes(candidate));
  }

  /** The outcome without all other changes; null if it is unknown. */
  #others(set: readonly Candidate[]): TestOutcome | null {
    const out = this.#othersOf(set);
    if (out.length === 0) return 'unresolved';
    if (this.isRedWithout(out)) return 'red';
    return this.#runs.find((run) => isWithout(run, out))?.outcome ?? null;
  }

  /**
   * How many green runs show that the test is green in a state: one, or, if it was green in a state in which it was red, too, as many as the rate
   * calls for.
   */
  get #greensToBelieve(): number {
    const reds = this.#runs.filter(({ outcome }) => outcome === 'red');
    const chance = this.#runs.filter(
      ({ out, outcome }) => outcome === 'green' && this.isRedWithout([...out]),
    );
    const red = REDS_BEFORE + reds.length;
    return chance.length === 0 ? 1 : countGreensNeeded({ red, runs: red + chance.length });
  }

  #greensWithout(set: readonly Candidate[]): number {
    const [hunk, ...more] = set;
    const shared =
      hunk && more.length === 0 && this.#suspects(hunk)?.length === 1 ? this.#greenInCompany() : [];
    const exact = this.#runs.filter((run) => run.outcome === 'green' && isWithout(run, set));
    const inCompany = shared.filter((out) => out.size > 1 && set.every((one) => out.has(one)));
    return exact.length + inCompany.length;
  }

  /** Returns the outcome of the test without these hunks, or asks for a run and returns null if it is unknown. */
  #ask(out: readonly Candidate[]): SetOutcome | null {
    const known = this.#known(out);
    if (known === null && !this.endedBy) this.asked ??= out;
    return known;
  }

  #known(out: readonly Candidate[]): SetOutcome | null {
    // One red run decides, since a green one may be chance. Without fewer hunks than in a run that was red, the test is red, too.
    if (this.isRedWithout(out)) return 'red';
    const exact = this.#runs.filter((run) => isWithout(run, out));
    if (exact.some(({ outcome }) => outcome === 'other')) return 'red';
    if (exact.some(({ outcome }) => outcome === 'unresolved')) return 'unresolved';
    if (exact.length > 0) return exact.length >= this.#greensToBelieve ? 'green' : null;
    const [hunk, ...more] = out;
    if (hunk === undefined || more.length > 0 || hunk === this.#alone || this.isForSet) return null;
    return this.#suspects(hunk)?.length === 1 ? 'green' : null;
  }

  /** Returns the hunks of which one has turned the test green in all runs without this one; null if there was none. */
  #suspects(hunk: Candidate): readonly Candidate[] | null {
    const greens = this.#greenInCompany().filter((out) => out.has(hunk));
    const innocent = this.#innocent();
    const [first] = greens;
    if (!first) return null;
    return [...first].filter(
      (suspect) => suspect === hunk || (!innocent.has(suspect) && greens.every((out) => out.has(suspect))),
    );
  }

  /** The sets of hunks, each asked for by itself, without which the test was green. */
  #greenInCompany(): ReadonlySet<Candidate>[] {
    return this.#runs.flatMap(({ out, outcome, isForSet }) =>
      outcome === 'green' && !isForSet ? [out] : [],
    );
  }

  #innocent(): ReadonlySet<Candidate> {
    return new Set(this.#runs.flatMap(({ out, outcome }) => (outcome === 'red' ? [...out] : [])));
  }

  /** The smallest set that is known by now to turn the test green. */
  #best(): MinimalSet<Candidate> | null {
    const [hunk, ...more] = this.asked ?? [];
    const suspects = hunk && more.length === 0 ? this.#suspects(hunk) : null;
    const greens = this.#runs.flatMap(({ out, outcome }) => (outcome === 'green' ? [[...out]] : []));
    const [set] = [...greens, ...(suspects ? [suspects] : [])].toSorted((a, b) => a.length - b.length);
    return set ? { set, isMinimal: set.length === 1 && this.#mayBeStated(set) } : null;
  }

  /** If the test was green without several hunks and red without one of them, another one of them is the suspect. */
  #hinted(tried: ReadonlySet<Candidate>): Candidate | undefined {
    const innocent = this.#innocent();
    const shared = this.#greenInCompany().filter(({ size }) => size <= MOST_IN_COMPANY);
    return shared.flatMap((out) => [...out]).find((hunk) => !innocent.has(hunk) && !tried.has(hunk));
  }
}

function isWithout(run: TestRun, out: readonly Candidate[]): boolean {
  return run.out.size === out.length && out.every((hunk) => run.out.has(hunk));
}

/** Returns how much a failure says of each candidate, computed once. */
function rankBy(lead: DiagnosedFailure): (candidate: Candidate) => number {
  const likely = rateHunk(lead);
  const ranks = new Map<Candidate, number>();
  return (candidate) => {
    const rank = ranks.get(candidate) ?? likely(candidate.hunk);
    ranks.set(candidate, rank);
    return rank;
  };
}

/** Returns the hunks that the failure names, the one that it names most first, and the newest first among equals. */
function mostNamed(candidates: readonly Candidate[], rank: (one: Candidate) => number): Candidate[] {
  return candidates.filter((candidate) => rank(candidate) > 0).toSorted((a, b) => rank(b) - rank(a));
}

/** The hunks that a Playwright run takes out, and the searches that it is for. */
export interface Round {
  readonly out: ReadonlySet<Candidate>;
  readonly searches: readonly CauseSearch[];
}

/**
 * The runs that searches share. Each search has a number, and a run takes out the single hunks of all searches whose number has a certain bit. So three
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

  /** Returns the next run: it takes out what the first of these searches asks for and, if that is a single hunk, the hunks of others. */
  next(searches: readonly CauseSearch[]): Round | null {
    const asking = searches.filter(({ asked }) => asked !== null);
    const [first] = asking;
    if (!first?.asked) return null;
    const ofHistory = asking.filter(({ history }) => history === first.history);
    if (first.canShare) return this.#shared(ofHistory.filter(({ canShare }) => canShare));
    const out = new Set(first.asked);
    const alike = ofHistory.filter(
      ({ asked }) => asked?.length === out.size && asked.every((hunk) => out.has(hunk)),
    );
    return { out, searches: alike };
  }

  #shared(searches: readonly CauseSearch[]): Round {
    const numbers = searches.map((search) => this.#numbers.get(search) ?? 1);
    const bits = Math.floor(Math.log2(Math.max(...numbers))) + 1;
    for (;;) {
      const bit = this.#run % bits;
      this.#run += 1;
      // What has been shown once needs no telling apart.
      const taken = searches.filter(
        ({ isRepeating }, at) => isRepeating || ((numbers[at] ?? 0) >> bit) % 2 === 1,
      );
      const out = new Set(taken.flatMap(({ asked }) => asked ?? []));
      if (out.size > 0) return { out, searches };
    }
  }
}
